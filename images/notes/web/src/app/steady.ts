/** Tells for how long a server that comes and goes is shown as lost. */

const STEADY_MS = 60_000;
const FIRST_MS = 1_000;
const MOST_MS = 10_000;

/**
 * Returns the ms for which a server that is lost now stays lost, whatever it answers meanwhile.
 *
 * Where one kind of request fails and all others are answered, each answer is a return, after which all is read
 * again. The pause grows with each return that did not last: `before` is the last one, `there` the ms since then.
 */
export const pauseOf = (before: number, there: number): number =>
  there >= STEADY_MS ? 0 : Math.min(Math.max(before * 2, FIRST_MS), MOST_MS);
