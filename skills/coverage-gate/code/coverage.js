const { artifact = 'coverage', minimum = 80, minimum_changed = minimum } = input.inputs;
const files = get_ci_files(artifact);
if (files === null) throw new Error(`CI left no artifact ${artifact} for this head`);
const ending = (name) => files.find(({ path }) => path === name || path.endsWith(`/${name}`));
const [lcov, summary] = [ending('lcov.info'), ending('coverage-summary.json')];

const percent = ({ hit, all }) => (all === 0 ? 100 : (100 * hit) / all);
const shown = (value) => `${(Math.floor(value * 10) / 10).toFixed(1)} %`;

/** By file of the report, the hits of each line. */
function linesIn(text) {
  const byFile = new Map();
  let lines = new Map();
  for (const line of text.split('\n')) {
    const [key, value = ''] = [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()];
    if (key === 'SF') {
      lines = new Map();
      byFile.set(value.replaceAll('\\', '/'), lines);
    }
    if (key === 'DA') {
      const [number, hits] = value.split(',').map(Number);
      lines.set(number, Math.max(hits, lines.get(number) ?? 0));
    }
  }
  return byFile;
}

/** By file, the numbers of the lines that the change adds. */
function addedLines() {
  const added = new Map();
  let lines = [];
  let next = 0;
  let left = 0;
  for (const line of get_diff().split('\n')) {
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (left <= 0 && line.startsWith('+++ b/')) {
      lines = [];
      added.set(line.slice(6).trim(), lines);
    }
    if (hunk) [next, left] = [Number(hunk[1]), Number(hunk[2] ?? 1)];
    else if (left > 0 && !line.startsWith('-') && !line.startsWith('\\')) {
      if (line.startsWith('+')) lines.push(next);
      next += 1;
      left -= 1;
    }
  }
  return added;
}

const criteria = [];
const judge = (id, what, counted, least) =>
  criteria.push({
    id,
    description: `The tests cover at least ${least} % of ${what}.`,
    passed: percent(counted) >= least,
    evidence: `${shown(percent(counted))}: ${counted.hit} of ${counted.all} lines`,
  });

if (lcov) {
  const report = linesIn(lcov.content);
  const all = [...report.values()].flatMap((lines) => [...lines.values()]);
  if (all.length === 0) throw new Error(`${lcov.path} names no line`);
  judge('all', 'all lines', { hit: all.filter((hits) => hits > 0).length, all: all.length }, minimum);
  const changed = [...addedLines()].flatMap(([path, lines]) => {
    const found = [...report].find(([file]) => file === path || file.endsWith(`/${path}`));
    return lines.flatMap((line) => found?.[1].get(line) ?? []);
  });
  const hit = changed.filter((hits) => hits > 0).length;
  if (changed.length > 0)
    judge('changed', 'the lines that the change adds', { hit, all: changed.length }, minimum_changed);
} else if (summary) {
  const { total, covered } = JSON.parse(summary.content).total.lines;
  if (!(total > 0)) throw new Error(`${summary.path} names no line`);
  judge('all', 'all lines', { hit: covered, all: total }, minimum);
} else {
  throw new Error(`the artifact ${artifact} has neither lcov.info nor coverage-summary.json`);
}

const unmet = criteria.filter(({ passed }) => !passed);
submit({
  summary: (unmet.length > 0 ? unmet : criteria).map(({ id, evidence }) => `${id}: ${evidence}`).join('; '),
  passed: unmet.length === 0,
  criteria,
});
