import { type CountersignRules, wantedByStep } from '../../domain/policy/countersign-rules.ts';
import { code } from '../text/markdown.ts';
import { listed } from '../text/pretty.ts';

/** Who may answer a question by its rules, in sentences of Markdown that begin within a line. */
export function whoMayAnswer(rules: CountersignRules): string {
  const { permission, teams, users } = rules;
  const groups = [
    ...(permission === 'none'
      ? []
      : [`anybody with ${permission} access${permission === 'admin' ? '' : ' or more'}`]),
    ...teams.slice(0, 20).map((team) => `members of ${code(team)}`),
    ...users.slice(0, 20).map((user) => code(user)),
  ];
  const named = teams.length + users.length > 0 ? ' Whoever is named here needs write access too.' : '';
  const wanted = wantedByStep(rules, code);
  const both =
    wanted === undefined
      ? ''
      : ` **For this step, a countersign counts only from ${wanted}**; anybody who may answer can reject.`;
  return `${listed(groups, 'or')}.${named}${both}`;
}
