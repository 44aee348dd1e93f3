import type { SarifResult, SarifRule, SarifRun } from './report.ts';

/** The id of a result's rule, to which a result may append parts after a "/" (SARIF 2.1.0, section 3.5.4). */
export function ruleIdOf({ ruleId, rule }: SarifResult): string | undefined {
  return ruleId ?? rule?.id;
}

/**
 * Returns a function that finds the rule of a result in its tool or an extension. An index counts before the
 * names only if both agree: tools omit the extension that the index refers to, and the severity would come
 * from another rule. In a contradictory report, the index is still better than no rule.
 */
export function rulesOf({ tool }: SarifRun): (result: SarifResult) => SarifRule | undefined {
  // Indexed by name once, because a report can have thousands of results and rules. If several rules have one
  // name, the tool's own applies.
  const components = [tool.driver, ...(tool.extensions ?? [])].toReversed();
  const byName = new Map(
    components.flatMap(({ rules = [] }) => rules.toReversed().map((rule) => [rule.id, rule])),
  );
  return (result) => {
    const index = result.ruleIndex ?? result.rule?.index;
    const there = index === undefined ? undefined : componentOf(result, tool).rules?.[index];
    const names = namesOf(ruleIdOf(result));
    if (there && (names.length === 0 || names.includes(there.id ?? ''))) return there;
    const known = names.find((name) => byName.has(name));
    return known === undefined ? there : byName.get(known);
  };
}

function componentOf({ rule }: SarifResult, { driver, extensions = [] }: SarifRun['tool']) {
  const { index, name } = rule?.toolComponent ?? {};
  const meant =
    index === undefined
      ? extensions.find((one) => one.name !== undefined && one.name === name)
      : extensions[index];
  return meant ?? driver;
}

/** Tools write one or two parts. Each further part costs a lookup for each of thousands of results. */
const MAX_PARTS = 8;

/** `a/b/c`, `a/b`, `a`: the longest name that a rule has applies. */
function namesOf(id: string | undefined): string[] {
  if (id === undefined) return [];
  const names = [id];
  for (
    let end = id.lastIndexOf('/');
    end > 0 && names.length <= MAX_PARTS;
    end = id.lastIndexOf('/', end - 1)
  )
    names.push(id.slice(0, end));
  return names;
}
