// Answers where there is no model: from the paths and sizes of the changed files alone.
const LEVELS = ['info', 'low', 'medium', 'high', 'critical'];
const highest = (risks) => risks.reduce((a, b) => (LEVELS.indexOf(b) > LEVELS.indexOf(a) ? b : a), 'info');
const isTest = (path) => /(^|\/)(tests?|__tests__|spec)\/|\.(test|spec)\.\w+$/.test(path);
const isText = (path) => /\.(md|markdown|rst|adoc|txt)$/i.test(path);

function riskOf({ path, additions, deletions }) {
  if (isTest(path) || isText(path)) return 'info';
  if (/(^|\/)migrations?\/|\.sql$/i.test(path)) return 'high';
  if (/(^|[/_.-])(auth|security|crypto|permissions?|payments?|billing)([/_.-]|$)/i.test(path)) return 'high';
  if (/^\.github\/|(^|\/)(Dockerfile|compose\.ya?ml|package\.json|.*lock.*|go\.(mod|sum))$/.test(path))
    return 'medium';
  return additions + deletions > 400 ? 'medium' : 'low';
}

const areaOf = (path) => path.split('/').slice(0, -1).slice(0, 2).join('/') || 'the top folder';
const byArea = new Map();
for (const file of input.files) {
  const area = areaOf(file.path);
  byArea.set(area, [...(byArea.get(area) ?? []), file]);
}
const areas = [...byArea].map(([name, files]) => ({
  name: name.slice(0, 200),
  risk: highest(files.map(riskOf)),
  description: `${files.length} changed, ${files.reduce((sum, f) => sum + f.additions + f.deletions, 0)} lines.`,
  files: files.map(({ path }) => path).slice(0, 50),
}));
areas.sort((a, b) => LEVELS.indexOf(b.risk) - LEVELS.indexOf(a.risk));
const risk = highest(areas.map((area) => area.risk));
const code = input.files.filter(({ path }) => !isTest(path) && !isText(path));
const gone = code.flatMap(({ path, previous_path, status }) => {
  if (status === 'removed') return [`${path} is removed.`];
  return status === 'renamed' ? [`${previous_path} is now ${path}.`] : [];
});
const isTested = input.files.some(({ path }) => isTest(path));
const recommendations = [
  ...areas
    .filter((area) => area.risk === 'high')
    .slice(0, 5)
    .map(({ name }) => `Let an owner of ${name} look at this.`),
  ...(code.length > 0 && !isTested ? ['Add a test: the code changes, and no test does.'] : []),
];
const count = `${input.files.length} file${input.files.length === 1 ? '' : 's'}`;
submit({
  summary: `The change touches ${count}; judged by paths and sizes alone, the risk is ${risk}.`,
  passed: risk !== 'high' && risk !== 'critical',
  risk,
  areas: areas.slice(0, 50),
  breaking_changes: gone.slice(0, 50),
  recommendations,
});
