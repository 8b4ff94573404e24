/** Code of the realm: the clock and the random numbers of a script are those of its work. workflows-js.md 8. */
export const withClock = String.raw`
  const RealDate = Date;
  const clock = () => now('now');
  const WorkDate = new Proxy(RealDate, {
    apply: () => text(new RealDate(clock())),
    construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [clock()] : args, made === WorkDate ? target : made),
  });
  defineProperty(RealDate, 'now', { value: () => clock(), writable: true, enumerable: false, configurable: true });
  defineProperty(RealDate.prototype, 'constructor', { value: WorkDate, writable: true, enumerable: false, configurable: true });
  define('Date', WorkDate);
  defineProperty(Math, 'random', { value: () => now('random'), writable: true, enumerable: false, configurable: true });
  // They take the time of now where they are given none.
  const Formats = Intl.DateTimeFormat;
  const format = getOwnPropertyDescriptor(Formats.prototype, 'format').get;
  const { formatToParts } = Formats.prototype;
  defineProperty(Formats.prototype, 'format', {
    get() {
      const bound = apply(format, this, []);
      return (date) => bound(date === undefined ? clock() : date);
    },
    configurable: true,
  });
  defineProperty(Formats.prototype, 'formatToParts', {
    value(date) { return apply(formatToParts, this, [date === undefined ? clock() : date]); },
    writable: true,
    configurable: true,
  });
`;
