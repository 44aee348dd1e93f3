// The form of Dependabot's texts: https://github.com/dependabot/dependabot-core/issues/8481 (descriptions of groups) and
// https://github.com/dependabot/dependabot-core/issues/7840 (titles). Only lines that begin so count, because the
// description also quotes release notes, which name updates of their own.
const LEVELS = ['patch', 'minor', 'major', 'unknown'];
const VERSION = '[`"]?([^\\s`"|]{1,100})[`"]?';
const TITLE = new RegExp(`(?:bump|update) (\\S{1,200}?)(?: requirement)? from ${VERSION} to ${VERSION}`, 'i');
const LINES = [
  new RegExp(`^Bumps \\[?([^\\s\\]]{1,200})\\]?(?:\\([^)]*\\))? from ${VERSION} to ${VERSION}`),
  new RegExp(`^Updates \`?([^\\s\`]{1,200})\`? from ${VERSION} to ${VERSION}`),
  /^\| \[?([^\s\]|]{1,200})\]?(?:\([^)]*\))? \| `([^`|]{1,100})` \| `([^`|]{1,100})` \|/,
];

function numbersOf(version) {
  const found = /^[~^=v]*(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?(?:\.\d{1,6})*(?:[-+][\w.+-]*)?$/.exec(
    version,
  );
  return found?.slice(1, 4).map((part) => Number(part ?? 0));
}

function levelOf(from, to) {
  const [before, after] = [numbersOf(from), numbersOf(to)];
  if (!before || !after) return 'unknown';
  const first = before.findIndex((number, index) => number !== after[index]);
  // Where the first number is 0, the second one says what breaks: https://semver.org/#spec-item-4.
  return ['major', before[0] === 0 ? 'major' : 'minor', 'patch'][first] ?? 'patch';
}

const found = new Map();
function add(match) {
  if (!match) return;
  const [name, from, to] = match.slice(1).map((part) => part.replace(/[.,]$/, ''));
  found.set(`${name} ${from} ${to}`, { name, from, to, level: levelOf(from, to) });
}

const title = input.pr.title;
add(TITLE.exec(title));
for (const line of (input.pr.body ?? '').split(/\r?\n/)) for (const form of LINES) add(form.exec(line));
const updates = [...found.values()].slice(0, 100);
const wanted = Number(/\bwith (\d{1,4}) updates?\b/.exec(title)?.[1] ?? 1);
const isWhole = new Set(updates.map(({ name }) => name)).size >= wanted;
const ranks = updates.map(({ level }) => LEVELS.indexOf(level));
const level = isWhole ? LEVELS[Math.max(...ranks)] : 'unknown';
const named = updates.slice(0, 5).map(({ name, from, to }) => `${name} from ${from} to ${to}`);
const rest = updates.length > 5 ? `, and ${updates.length - 5} more` : '';
const summary =
  level === 'unknown'
    ? 'The versions that this updates cannot be read from its title and description.'
    : `A ${level} update: ${named.join(', ')}${rest}.`;
submit({ summary, passed: level === 'unknown' ? null : true, data: { level, updates } });
