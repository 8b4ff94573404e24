KEY = "hk_live_9f2c11d0"
