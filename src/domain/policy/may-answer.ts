import { type Contributors, NO_CONTRIBUTORS } from './authorship.ts';
import { type CountersignRules, teamsNamed } from './countersign-rules.ts';
import { ineligibleBecause } from './merge-gate.ts';

/** What is stored about a question and the person who looks at it. */
interface StoredFacts {
  person: { id: number; login: string };
  /** `undefined` if it is not known. */
  role: string | undefined;
  rules: CountersignRules;
  author: { id: number } | null;
  /** Only those whom webhooks named. */
  pushers: Contributors['pushers'];
  countersignedBy: readonly string[];
}

/**
 * Why somebody certainly cannot give a countersign that counts; `undefined` if they may be able to. It asks the gate's own
 * rules with the best that can be true: what is not stored (teams, authors of commits, roles) could allow it. So it
 * never hides a question from somebody who can answer it, and only the gate says whether an answer counts.
 */
export function cannotAnswerBecause({
  person,
  role = 'admin',
  rules,
  author,
  pushers,
  countersignedBy,
}: StoredFacts): string | undefined {
  const login = person.login.toLowerCase();
  if (countersignedBy.some((name) => name.toLowerCase() === login)) return 'has countersigned already';
  return ineligibleBecause({ ...person, type: 'User', role, teams: teamsNamed(rules) }, rules, {
    contributors: { ...NO_CONTRIBUTORS, pushers },
    pullRequest: { author: { id: author?.id ?? 0, login: '' } },
  });
}
