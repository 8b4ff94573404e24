// The comparisons of the conformance README: pure functions from (expected, actual) to a list of complaints.

const SHOWN_MAX = 400;

/** Line ends, trailing blanks and blank lines do not count. */
export function normalise(text) {
  return text
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n')
    .trim();
}

/** Expected members match recursively, lists have the same length and match one by one, all else is equal. */
export function matches(expected, actual) {
  if (Array.isArray(expected)) {
    return Array.isArray(actual) && actual.length === expected.length && expected.every((item, i) => matches(item, actual[i]));
  }
  if (expected !== null && typeof expected === 'object') {
    const operators = Object.keys(expected).filter((key) => Object.hasOwn(OPERATORS, key));
    if (operators.length > 0) return operators.every((operator) => OPERATORS[operator](expected[operator], actual));
    if (actual === null || typeof actual !== 'object' || Array.isArray(actual)) return false;
    return Object.keys(expected).every((key) => (key in actual || isAbsent(expected[key])) && matches(expected[key], actual[key]));
  }
  return Object.is(expected, actual);
}

/** Patterns in the place of a value. */
const OPERATORS = {
  $gt: (bound, actual) => typeof actual === 'number' && actual > bound,
  $lt: (bound, actual) => typeof actual === 'number' && actual < bound,
  $near: ([value, by], actual) => typeof actual === 'number' && Math.abs(actual - value) <= by,
  $match: (source, actual) => typeof actual === 'string' && new RegExp(source, 'mu').test(actual),
  $exists: (exists, actual) => (actual !== undefined) === exists,
  $type: (type, actual) => typeof actual === type,
  $any: (patterns, actual) => patterns.some((pattern) => matches(pattern, actual)),
  $not: (pattern, actual) => !matches(pattern, actual),
  $length: (length, actual) => (Array.isArray(actual) || typeof actual === 'string') && actual.length === length,
  $has: (patterns, actual) => Array.isArray(actual) && patterns.every((pattern) => actual.some((item) => matches(pattern, item))),
};

/** A pattern that a member which is not there may match. */
function isAbsent(pattern) {
  return (
    pattern !== null &&
    typeof pattern === 'object' &&
    !Array.isArray(pattern) &&
    ('$exists' in pattern || '$not' in pattern || '$any' in pattern)
  );
}

/** As {@link matches}; a history may be written short, as node ids or as [id, outcome] pairs. */
export function matchesCheckpoint({ node_history: history, ...rest }, actual) {
  return matches(rest, actual) && (history === undefined || matchesHistory(history, actual.node_history));
}

function matchesHistory(expected, actual) {
  if (!Array.isArray(actual) || actual.length !== expected.length) return false;
  return expected.every((item, i) => {
    if (typeof item === 'string') return actual[i].node_id === item;
    if (Array.isArray(item)) return actual[i].node_id === item[0] && actual[i].outcome === item[1];
    return matches(item, actual[i]);
  });
}

/** The first expected event that does not occur in order, or undefined when all do. */
export function missingInOrder(expected, events) {
  let next = 0;
  for (const event of events) {
    if (next < expected.length && matches(expected[next], event)) next++;
  }
  return expected[next];
}

/** A few lines around the first difference of two texts. */
export function shortDiff(expected, actual) {
  const left = expected.split('\n');
  const right = actual.split('\n');
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const shown = (lines, sign) => lines.slice(at, at + 3).map((line) => `${sign} ${clip(line)}`);
  return [`first difference in line ${at + 1}`, ...shown(left, '-'), ...shown(right, '+')].join('\n');
}

export function clip(text) {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}… (${text.length} characters)` : text;
}
