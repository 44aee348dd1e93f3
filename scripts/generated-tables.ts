import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { TRIGGER_MEMBERS } from '../src/domain/chain/trigger-members.ts';
import { outcomeBase } from '../src/domain/outcome/base.ts';
import { CATEGORIES } from '../src/domain/outcome/finding.ts';
import { type KnownOutcomeKind, knownOutcomeSchema } from '../src/domain/outcome/outcome.ts';
import { CAPABILITIES, type Capability } from '../src/domain/policy/capability.ts';
import { SKILL_OUTCOMES } from '../src/domain/skill/manifest.ts';
import { PRODUCERS } from '../src/domain/skill/producers.ts';
import { markdownTable } from './markdown-table.ts';

type TriggerMember = (typeof TRIGGER_MEMBERS)[keyof typeof TRIGGER_MEMBERS][number];

const ABOUT_TRIGGER: Record<TriggerMember, string> = {
  kind: '`event`, `schedule`, `all_of`, `any_of` or `sequence`; `manual` if somebody fired the chain',
  event: 'what happened, such as `pr.updated`',
  actor:
    'the login of who fired the chain, added the label or submitted the review; otherwise the same as `author`; null where no person is known',
  author: 'the login of who opened it, pushed (`file.changed`) or published (`release.published`)',
  association: 'what the author is to the repository, such as `MEMBER`',
  title: 'its title',
  pr_number: 'the number of the pull request; for `invocation.completed`, that of its run, or null',
  issue_number: 'the number of the issue',
  head: 'the name of the branch with the change',
  base: 'the name of the branch that it changes',
  head_sha:
    'the commit; for `file.changed`, the newest of the push; for a schedule, and without a pull request, the newest of the branch',
  draft: 'whether it is a draft',
  labels: 'the names of its labels',
  label: 'the label that was added',
  review: 'what the review says, such as `approved`',
  reviewer: 'the login of who submitted it',
  branch: 'the branch of the commit; null if GitHub names none; missing in a run for a pull request',
  paths:
    'the changed files, a renamed one with both names; missing for a pull request with more files than GitHub lists',
  check: 'the check that ended',
  conclusion: 'its result, such as `failure`',
  tag: 'the tag of the release',
  prerelease: 'whether it is a prerelease',
  schedule: 'the schedule, as the chain says it',
  due_at: 'when it was due',
  late: 'whether it is more than five minutes late',
  chain: 'the chain whose step completed',
  step: 'the step that completed',
  run_id: 'the id of its run',
  outcome_kind: "the kind of the step's outcome",
  verdict: 'the verdict of that outcome, or null',
  passed: 'whether it passed, or null',
  summary: 'its summary',
  depth: 'how many runs fired one another until this one: 1 for the first',
};

function triggerTable(): string[][] {
  const events = Object.entries(TRIGGER_MEMBERS).map(([event, members]) => ({
    event,
    members: members as readonly string[],
  }));
  return [
    ['member of `trigger`', 'value', 'of'],
    ...Object.entries(ABOUT_TRIGGER).map(([member, about]) => {
      const having = events.filter(({ members }) => members.includes(member)).map(({ event }) => event);
      return [`\`${member}\``, about, having.length === events.length ? 'all' : eventNames(having)];
    }),
    [
      '`input_<key>`',
      'a value of `/countersign fire <chain> key=value`, as a text',
      'chains that somebody fires',
    ],
  ];
}

/** All events of a family as `pr.*`. */
function eventNames(events: readonly string[]): string {
  const familyOf = (event: string) => event.slice(0, event.indexOf('.'));
  const isWhole = (family: string) => {
    const all = Object.keys(TRIGGER_MEMBERS).filter((event) => familyOf(event) === family);
    return all.length > 1 && all.every((event) => events.includes(event));
  };
  const names = events.map((event) => (isWhole(familyOf(event)) ? `${familyOf(event)}.*` : event));
  return [...new Set(names)].map((name) => `\`${name}\``).join(', ');
}

/** What else can have an outcome that skills may state, and what has the other kinds. */
const MADE_BY: Partial<Record<KnownOutcomeKind, string>> = {
  review_verdict: '`pr-review`, `codex-pr-review`',
  gate_verdict: '[gates](gates.md)',
  ci_result: '`ci`',
  action_result: 'actions',
};

/** What is said of a field where its schema says too little, or too much for a table. */
const ABOUT_FIELD: Readonly<Record<string, string>> = {
  'review_verdict.findings': '',
  'review_verdict.left_out': '',
  'review_verdict.analyzers': '',
  'review_verdict.since': '',
  'review_verdict.model': '',
  'ci_result.checks': '',
  'test_result.coverage': 'in percent; may be null',
  'flow_control_verdict.should_continue': 'with `false`, [the chain ends](#end-a-chain-early)',
  'action_result.details':
    '`gh-merge`: `sha`, `head_sha`, `method`, `countersigned_by`, and sometimes `merged_by`, `merged_by_step`; `chain`: `chain`, `run_id`, `status`, `outcomes`; `gh-assign`: `issue`, `people`; `gh-close`: `issue`, sometimes `reason`; `gh-comment`: `issue`; `gh-issue`: `opened`, `updated`, `reopened`, `closed`, `left_closed`, `over_limit`; `gh-label`: `issue`, `labels`; `gh-milestone`: `issue`, `milestone`; `gh-request-reviewers`: `pull_request`, `people`, `teams`; `gh-review`: `pull_request`, `comments`, `listed`, `resolved`; `notify`: `webhooks`; `shell`: `exit_code`, `duration_ms`, `output`, `files`; `wait`: `waited_ms`',
};

function outcomesTable(): string[][] {
  const stated: readonly string[] = SKILL_OUTCOMES;
  return [
    ['kind', 'of', 'fields'],
    ...knownOutcomeSchema.options.map(({ shape }) => {
      const kind = shape.outcome_kind.value;
      const skills = stated.includes(kind) ? `skills with \`outcome: ${kind}\`` : undefined;
      const of = [MADE_BY[kind], skills].filter((one) => one !== undefined);
      return [`\`${kind}\``, of.join(', '), fieldsOf(kind, shape)];
    }),
    ['a kind of a package', 'skills with that kind', "`data`, as the package's `outcome_schema` says"],
  ];
}

function fieldsOf(kind: string, shape: Record<string, z.ZodType>): string {
  const fields = Object.entries(shape).filter(
    ([field]) => field !== 'outcome_kind' && field !== 'content_hash' && !Object.hasOwn(outcomeBase, field),
  );
  const named = ([field, schema]: [string, z.ZodType]) => {
    const about = ABOUT_FIELD[`${kind}.${field}`] ?? aboutSchema(schema);
    return about === '' ? `\`${field}\`` : `\`${field}\` (${about})`;
  };
  const always = fields.filter(([, schema]) => !isOptional(schema)).map(named);
  const sometimes = fields.filter(([, schema]) => isOptional(schema)).map(named);
  return [always.join(', '), ...(sometimes.length === 0 ? [] : [`sometimes ${sometimes.join(', ')}`])].join(
    '; ',
  );
}

function isOptional(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success;
}

type Described = z.core.JSONSchema.JSONSchema;

function aboutSchema(schema: z.ZodType): string {
  const described = schema.toJSONSchema({ io: 'input' }) as Described;
  const either = (described.anyOf ?? [described]) as Described[];
  const isNullable = either.some(({ type }) => [type].flat().includes('null'));
  return [...either.map(aboutValue), isNullable ? 'may be null' : '']
    .filter((text) => text !== '')
    .join('; ');
}

function aboutValue({ enum: values, items }: Described): string {
  if (values) return values.map((value) => `\`${String(value)}\``).join(', ');
  const members = typeof items === 'object' && !Array.isArray(items) ? items.properties : undefined;
  if (!members) return '';
  return `each with ${Object.keys(members)
    .map((member) => `\`${member}\``)
    .join(', ')}`;
}

/** What steps can work on, by the table of capabilities. */
function subjectsTable(): string[][] {
  const rows = new Map<string, string[]>([
    ['a pull request', ['each step with an approval', 'skills of packages']],
  ]);
  for (const { name, worksOn } of Object.values<Capability>(CAPABILITIES)) {
    const need = worksOn?.map((subject) => `${subject === 'issue' ? 'an' : 'a'} ${subject}`).join(' or ');
    if (need !== undefined) rows.set(need, [...(rows.get(need) ?? []), `\`${name}\``]);
  }
  return [['needs', 'steps'], ...[...rows].map(([need, steps]) => [need, steps.join(', ')])];
}

const alertsSchema = z.object({
  groups: z.tuple([
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.object({ severity: z.enum(['critical', 'warning', 'info']) }),
          annotations: z.object({ summary: z.string(), description: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ]),
});

/** The rules of `deploy/alerts.yaml`. */
export function alertRules() {
  const file = readFileSync(new URL('../deploy/alerts.yaml', import.meta.url), 'utf8');
  return alertsSchema.parse(parse(file)).groups[0].rules;
}

function alertsTable(): string[][] {
  return [
    ['alert', 'severity', 'expression', 'what to do'],
    ...alertRules().map(({ annotations, labels, expr, for: lasting }) => [
      annotations.summary,
      labels.severity,
      `\`${expr}\`${lasting === undefined ? '' : ` for ${lasting}`}`,
      `${annotations.description} [More](${annotations.runbook.replace(/^docs\//, '')})`,
    ]),
  ];
}

interface Table {
  page: string;
  name: string;
  rows: () => string[][];
}

const TABLES: readonly Table[] = [
  {
    page: 'review.md',
    name: 'categories',
    rows: () => [
      ['category', 'about'],
      ...Object.entries(CATEGORIES).map(([category, about]) => [`\`${category}\``, about]),
    ],
  },
  { page: 'metrics.md', name: 'alerts', rows: alertsTable },
  { page: 'chains.md', name: 'trigger', rows: triggerTable },
  { page: 'chains.md', name: 'subjects', rows: subjectsTable },
  { page: 'chains.md', name: 'outcomes', rows: outcomesTable },
  {
    page: 'contracts.md',
    name: 'producers',
    rows: () => [['producer', 'how'], ...Object.values(PRODUCERS).map(({ who, how }) => [who, how])],
  },
];

/** The pages of `docs/` with tables that `npm run schemas` writes. */
export const PAGES_WITH_TABLES: readonly string[] = [...new Set(TABLES.map(({ page }) => page))];

/** The page with its tables as they should be. A test fails if a page differs. */
export function withTables(page: string, text: string): string {
  return TABLES.filter((table) => table.page === page).reduce((before, { name, rows }) => {
    const [begin, end] = [`<!-- table: ${name} -->\n`, `<!-- end of table: ${name} -->\n`];
    const [head, rest] = before.split(begin);
    const tail = rest?.split(end)[1];
    if (head === undefined || tail === undefined) throw new Error(`docs/${page} has no place for ${name}`);
    return `${head}${begin}\n${markdownTable(rows())}\n\n${end}${tail}`;
  }, text);
}
