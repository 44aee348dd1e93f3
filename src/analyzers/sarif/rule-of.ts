import type { SarifResult, SarifRule, SarifRun } from './report.ts';

/** What a result calls its rule; it may add parts of its own behind a "/" (SARIF 2.1.0, section 3.5.4). */
export function ruleIdOf({ ruleId, rule }: SarifResult): string | undefined {
  return ruleId ?? rule?.id;
}

/**
 * Tells which rule a result of the run names, as its tool or an extension of it describes it. A place in a list counts before the names
 * only where both say the same: tools leave out the extension that the place is meant for, and another rule's weight would then be this
 * one's. In a report that contradicts itself the place is still better than no rule, whose results would weigh what nobody said.
 */
export function rulesOf({ tool }: SarifRun): (result: SarifResult) => SarifRule | undefined {
  // By name once, since a report may have thousands of results and of rules. Of rules of one name, the tool's own is meant.
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

/** Tools write one or two; each further one would be looked up for each of thousands of results. */
const MOST_PARTS = 8;

/** `a/b/c`, `a/b`, `a`: the longest that a rule has is the one that is meant. */
function namesOf(id: string | undefined): string[] {
  if (id === undefined) return [];
  const names = [id];
  for (
    let end = id.lastIndexOf('/');
    end > 0 && names.length <= MOST_PARTS;
    end = id.lastIndexOf('/', end - 1)
  )
    names.push(id.slice(0, end));
  return names;
}
