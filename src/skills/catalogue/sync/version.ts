/**
 * Compares two versions by Semantic Versioning: negative if `a` is older. A pre-release is older than its
 * release. https://semver.org/#spec-item-11
 * @param a a version as in a SKILL.md
 */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [split(a), split(b)];
  for (const [index, number] of one.numbers.entries()) {
    const difference = number - (other.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (one.pre.length === 0 || other.pre.length === 0) return other.pre.length - one.pre.length;
  for (const [index, part] of one.pre.entries()) {
    const against = other.pre[index];
    if (against === undefined) return 1;
    const difference = comparePart(part, against);
    if (difference !== 0) return difference;
  }
  return one.pre.length - other.pre.length;
}

function split(version: string): { numbers: number[]; pre: string[] } {
  const dash = version.indexOf('-');
  const release = dash < 0 ? version : version.slice(0, dash);
  return {
    numbers: release.split('.').map(Number),
    pre: dash < 0 ? [] : version.slice(dash + 1).split('.'),
  };
}

/** Numbers are ordered by value and come before words. */
function comparePart(a: string, b: string): number {
  const [one, other] = [a, b].map((part) => (/^\d+$/.test(part) ? Number(part) : undefined));
  if (one !== undefined && other !== undefined) return one - other;
  if (one !== undefined) return -1;
  if (other !== undefined) return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
