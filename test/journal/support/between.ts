/** A way to the server for whole processes, which tests break. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { onTestFinished } from 'vitest';

export class Between {
  private readonly sockets: Socket[] = [];
  /** Connections are refused. */
  isAway = false;
  /** Called with what is sent to the server, before that; false keeps it here. */
  onSent: (text: string) => boolean = () => true;
  /** Nothing that the server answers passes. */
  isDeaf = false;
  /** Answers of the server wait here until `passAnswers`. */
  holdsAnswers = false;
  private readonly held: (() => void)[] = [];

  private constructor(
    /** The address of the store through here. */
    readonly url: string,
  ) {}

  static async open(store: string): Promise<Between> {
    const url = new URL(store);
    const { hostname } = url;
    const port = Number(url.port || 5432);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    const between = new Between(url.href);
    server.on('connection', (near) => {
      if (between.isAway) return void near.destroy();
      const far = connect(port, hostname);
      near.pipe(passing((data) => between.onSent(data.toString('latin1')))).pipe(far);
      far.pipe(between.answers()).pipe(near);
      for (const socket of [near, far]) {
        socket.on('error', () => undefined);
        socket.on('close', () => socket.destroy());
        between.sockets.push(socket);
      }
    });
    onTestFinished(() => {
      between.cut();
      server.close();
    });
    return between;
  }

  passAnswers(): void {
    this.holdsAnswers = false;
    for (const pass of this.held.splice(0)) pass();
  }

  private answers(): Transform {
    return new Transform({
      transform: (data: Buffer, _, done) => {
        const pass = (): void => (this.isDeaf ? done() : done(null, data));
        if (this.holdsAnswers) this.held.push(pass);
        else pass();
      },
    });
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.sockets.splice(0)) socket.destroy();
  }

  /** Lets nothing pass over the connections that there are; later ones work. */
  halt(): void {
    for (const socket of this.sockets) {
      socket.unpipe();
      socket.on('data', () => undefined); // taken, and not passed on
    }
  }
}

/** Passes the pieces on for which `mayPass` is true. */
function passing(mayPass: (data: Buffer) => boolean): Transform {
  return new Transform({ transform: (data: Buffer, _, done) => (mayPass(data) ? done(null, data) : done()) });
}
