import { z } from 'zod';
import type { ActionName } from '../src/domain/policy/capability.ts';
import { ACTIONS } from '../src/engine/actions/actions.ts';
import { markdownTable } from './markdown-table.ts';

const HEAD = `# Actions

What a step of a [chain](chains.md) can do. Each example goes below \`steps:\`. \`npm run schemas\` writes this page from the actions themselves.

An action always acts on the run's own pull request or issue. Its inputs are the step's \`with:\`. A value may be an
[expression](chains.md#expressions); then it is checked when the step runs. Values of expressions in texts appear as plain text: they
mention nobody and contain no markup.

Most steps are complete once their action has requested what it does. If GitHub refuses that, the log says so and
\`countersign_effects{status="failed"}\` ([metrics](metrics.md)) counts it, but the step does not fail. \`gh-merge\` is different: it ends
when the pull request is merged. So are the actions that wait for GitHub, as their sections say.

[Policy](policy.md) says what trust means, and which runs have it.
`;

/** A step with each action, for people who copy it. A test lints them. */
const EXAMPLES: Readonly<Record<ActionName, string>> = {
  chain: '- action: chain\n  with: { chain: deploy, inputs: { environment: staging } }',
  'gh-assign': '- action: gh-assign\n  with: { people: [ada, max] }',
  'gh-backport': '- action: gh-backport\n  with: { branches: release-1.x }',
  'gh-close': '- action: gh-close\n  with: { comment: "Nobody has answered for a month." }',
  'gh-comment': '- action: gh-comment\n  with: { body: "Thank you, {{ trigger.author }}." }',
  'gh-dispatch': '- action: gh-dispatch\n  with: { workflow: deploy.yml, inputs: { environment: staging } }',
  'gh-issue':
    '- skill: pr-review\n- action: gh-issue\n  with: { outcome: "{{ steps[0].outcome }}", severity: high, labels: [review] }',
  'gh-label': '- action: gh-label\n  with: { labels: [documentation] }',
  'gh-merge':
    '- action: gh-merge\n  requires_approval: true\n  with: { method: rebase, delete_branch: true }',
  'gh-milestone': '- action: gh-milestone\n  with: { milestone: "1.2" }',
  'gh-release': '- action: gh-release\n  with: { tag: v1.2.0, body: "Prices can be rounded." }',
  'gh-request-reviewers':
    '- action: gh-request-reviewers\n  with: { people: [ada], teams: [acme/databases] }',
  'gh-review':
    '- skill: pr-review\n- action: gh-review\n  with: { outcome: "{{ steps[0].outcome }}", severity: medium }',
  'gh-status':
    '- action: gh-status\n  with: { context: team/docs, state: success, description: "The docs are complete." }',
  'gh-update-branch': '- action: gh-update-branch',
  notify: '- action: notify\n  with: { to: team-chat, text: "{{ trigger.title }} is ready." }',
  shell:
    '- action: shell\n  with: { run: make report, env: { TITLE: "{{ trigger.title }}" }, artifacts: report/** }',
  wait: `- action: wait\n  with: { until: "{{ 'ready' in pr.labels }}", timeout: 3d }`,
};

/** docs/actions.md. A test fails if the file is outdated. */
export function actionsPage(): string {
  const sections = Object.values(ACTIONS).map((action) => {
    const { name, about, capability, permissions, once, input } = action;
    const asks = capability.confirmation === 'person' ? ' People are always asked first.' : '';
    return [
      `## \`${name}\``,
      `${about}${asks}`,
      `\`\`\`yaml steps\n${EXAMPLES[name as ActionName]}\n\`\`\``,
      markdownTable([['input', 'required', 'value', 'meaning'], ...inputRows(input)]),
      `- Trust: \`${capability.minimumTrust}\`.\n- The App's permissions: ${permissions.map((one) => `\`${one}\``).join(', ') || 'none'}.\n- Once: ${once}.${'waits' in action && action.waits ? '\n- It waits until GitHub has done it.' : ''}`,
    ].join('\n\n');
  });
  return `${[HEAD.trimEnd(), ...sections].join('\n\n')}\n`;
}

function inputRows(input: z.ZodObject): string[][] {
  return Object.entries(input.shape as Record<string, z.ZodType>).map(([key, field]) => [
    `\`${key}\``,
    field.safeParse(undefined).success ? '' : 'yes',
    typeOf(field),
    field.description ??
      (field instanceof z.ZodOptional ? (field.unwrap() as z.ZodType).description : undefined) ??
      '',
  ]);
}

function typeOf(field: z.ZodType): string {
  if (field instanceof z.ZodOptional || field instanceof z.ZodNullable || field instanceof z.ZodDefault)
    return typeOf(field.unwrap() as z.ZodType);
  const values = field.meta()?.values;
  if (typeof values === 'string') return values;
  if (field instanceof z.ZodEnum) return field.options.map((option) => `\`${String(option)}\``).join(', ');
  if (field instanceof z.ZodBoolean) return '`true` or `false`';
  if (field instanceof z.ZodPipe && field.meta()?.listOrOne) return 'a text or a list of texts';
  if (field instanceof z.ZodPipe) return typeOf(field.in as z.ZodType);
  if (field instanceof z.ZodUnion) return 'a number';
  if (field instanceof z.ZodNumber) return 'a number';
  if (field instanceof z.ZodString) return 'a text';
  return 'a mapping';
}
