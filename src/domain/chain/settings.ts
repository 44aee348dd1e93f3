import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { memberOf } from '../../core/mapping.ts';
import { writtenMandatorySchema } from '../gate/gate.ts';
import { type MandatoryGates, mandatoryGates } from '../gate/placed.ts';
import { teamSchema, userSchema } from '../policy/countersign-rules.ts';
import { MERGED_BY } from '../policy/gate-check.ts';
import { TRUST_LEVELS, type TrustLevel } from '../policy/trust.ts';
import { CHAIN_NAME } from './chain.ts';
import { checkMandatoryGates } from './check-gates.ts';
import type { KnownNames } from './known-names.ts';
import { readYaml, type YamlSource } from './positions.ts';
import { rolloutSchema } from './rollout-setting.ts';
import { checkShape, duration, inFileOrder } from './shape.ts';

/** GitHub's reaction contents that may approve or reject. */
const REACTIONS = ['rocket', '+1', '-1', 'heart', 'laugh'] as const;
type Reaction = (typeof REACTIONS)[number];

/** Reactions that the bot itself uses. If one of them approved, the bot would seem to approve. */
const BOT_REACTIONS: readonly unknown[] = ['eyes', 'hooray', 'confused'];

/** YAML reads an unquoted +1 or -1 as a number, which means the same here. */
const reaction = z
  .union([z.enum(REACTIONS), z.literal(1), z.literal(-1)], {
    error: ({ input }) =>
      BOT_REACTIONS.includes(input)
        ? `the reaction "${input}" is one the bot uses itself; allowed: ${REACTIONS.join(', ')}`
        : notAllowed(`${JSON.stringify(input)} is not a reaction for this`, REACTIONS, String(input)),
  })
  .transform((given): Reaction => (given === 1 ? '+1' : given === -1 ? '-1' : given));

const pattern = (form: RegExp, error: string) => z.string().regex(form, { error });

/**
 * For a longer list, the only diagnostic is its length, and no entry is checked: anybody can write thousands.
 */
const MAX_CHAINS = 50;
const MAX_CHECKS = 100;
const MAX_REACTIONS = 5;

const checkName = z.string().min(1).max(255);

const countersign = z.strictObject({
  permission: z
    .enum(['admin', 'maintain', 'write', 'none'])
    .describe(
      'The least role on the repository that may countersign; none: only the named people and teams.',
    ),
  teams: z
    .array(teamSchema)
    .max(50)
    .describe('Teams whose members may countersign, as organisation/team-slug.'),
  users: z.array(userSchema).max(50).describe('Logins of people who may countersign; case does not matter.'),
  count: z.int().min(1).max(10).describe('How many people must countersign.'),
  unattributed: z
    .enum(['one_more', 'allow', 'refuse'])
    .describe(
      'What commits are taken for whose writer, committer or pusher nobody knows: one more countersign than count, nothing special, or no merge.',
    ),
  review: z
    .enum(['required', 'optional'])
    .describe(
      'required: at least one of those who may countersign must also have approved this head in a review on GitHub. The reactions stay necessary. optional: such reviews are only shown.',
    ),
  approve: z.array(reaction).min(1).max(MAX_REACTIONS).describe('Reactions that approve.'),
  reject: z.array(reaction).max(MAX_REACTIONS).describe('Reactions that reject.'),
});

const merge = z.strictObject({
  method: z.enum(['squash', 'merge', 'rebase']).describe('How pull requests are merged.'),
  changes_requested: z
    .enum(['block', 'ignore'])
    .describe(
      'What a review that requests changes means, by somebody who can write and has not lifted it since.',
    ),
  by: z
    .enum(MERGED_BY)
    .describe(
      'Who merges after the countersign. app: Countersign does, at once. people: the gate check turns green, and somebody presses the merge button. queue: Countersign adds the pull request to the merge queue of its branch.',
    ),
});

const ci = z.strictObject({
  wait: duration('7d').describe('How long to wait for checks to finish, such as 6h.'),
  no_checks: z.enum(['allow', 'block']).describe('What a head without any check means.'),
  required: z.array(checkName).max(MAX_CHECKS).describe('Checks that must be there and pass.'),
  ignore: z.array(checkName).max(MAX_CHECKS).describe('Checks that do not count.'),
});

/** What `notify.mention` can say: when people are mentioned, once per question. */
const MENTIONS = ['question', 'reminder', 'never'] as const;

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const timeOfDay = pattern(TIME, 'a time of day has the form "18:00"; write it in quotes');

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const quietHours = z
  .strictObject({
    from: timeOfDay,
    to: timeOfDay,
    time_zone: z
      .string()
      .max(64)
      .refine(isTimeZone, { error: 'a time zone has a name such as Europe/Berlin' }),
    weekends: z.boolean().default(false).describe('Also all of Saturday and Sunday.'),
  })
  .refine(({ from, to }) => from !== to, { error: '"from" and "to" must differ', path: ['to'] });
export type QuietHours = z.infer<typeof quietHours>;

const remindIn = duration('30d');

const notify = z.strictObject({
  request_review: z
    .boolean()
    .describe('Requests a review from those who may answer a question, when it is asked.'),
  mention: z
    .enum(MENTIONS)
    .describe(
      'When those who may answer are mentioned in a comment, once per question: with the question, with the reminder, or never.',
    ),
  webhooks: z
    .array(
      pattern(/^[a-z][a-z0-9-]{0,31}$/, 'a webhook is the name that the operator gave it, such as team-chat'),
    )
    .max(5)
    .describe('Webhooks of chats, by the names that the operator of the server gave them.'),
  remind: z
    .union([z.literal('never'), remindIn], {
      error: 'a reminder comes after a length of time, such as 24h and at most 30d, or never',
    })
    .transform((given) => (given === 'never' ? null : given))
    .describe('How long a question is open before its reminder, such as 24h; or never.'),
  quiet_hours: quietHours.describe('When reminders and webhooks wait.'),
});

const noise = z.enum(['normal', 'quiet']);
const chains = z
  .array(pattern(CHAIN_NAME, 'this is not a chain name'))
  .max(MAX_CHAINS)
  .describe(
    'The chains that run. Left out, all that are in force: of the repository, the organisation and those shipped; an empty list runs none.',
  );

const gates = z
  .array(writtenMandatorySchema)
  .max(50)
  .describe('Gates for every use of a skill or action. Those of the organisation and the repository add up.');

/** As findings name it: `analyzer/rule`, or `file/rule` of a package. */
const ruleName = pattern(
  /^[^\s/]{1,60}\/[^\s]{1,139}$/,
  'a rule is written analyzer/rule, as its finding shows it',
);

const review = z.strictObject({
  ignore: z
    .array(ruleName)
    .max(200)
    .describe(
      'Rules whose findings do not count, as analyzer/rule. The review says how many it left out. Those of the organisation and the repository add up.',
    ),
  learning: z
    .enum(['on', 'off'])
    .describe(
      'off: reviews show every finding, whatever people accepted before. What is off in the organisation is off everywhere.',
    ),
});

const minimum = z.strictObject({
  count: countersign.shape.count.describe('The least number of people who must countersign.'),
  permission: z
    .enum(['admin', 'maintain', 'write'])
    .describe('The least role of anybody who countersigns, also of people and teams that are named.'),
  review: z
    .literal('required')
    .describe('An approving review on GitHub is always needed beside the countersigns.'),
  no_checks: z.literal('block').describe('A head without any check is never merged.'),
  trust: z
    .enum(TRUST_LEVELS)
    .describe('The least trust that a run needs for a step with a skill package, whatever the package says.'),
});

const merging = z
  .enum(['on', 'off'])
  .describe(
    'off: nothing is merged until it is on again. What is off in the organisation is off everywhere.',
  );

const shell = z
  .enum(['allow', 'off'])
  .describe(
    'Whether steps with `action: shell` may run commands, if the operator of the server allows it too. What is off in the organisation is off everywhere.',
  );

/** One `.github/countersign.yml`. All keys are optional. */
export const settingsFileSchema = z.strictObject({
  chains: chains.optional(),
  countersign: countersign.partial().optional(),
  merge: merge.partial().optional(),
  ci: ci.partial().optional(),
  notify: notify.partial().optional().describe('How people learn of an open question.'),
  noise: noise.optional(),
  review: review.partial().optional().describe('What reviews leave out, and what they show less.'),
  gates: gates.optional(),
  minimum: minimum
    .partial()
    .optional()
    .describe('What no repository of the organisation may go below; it may ask for more.'),
  merging: merging.optional(),
  shell: shell.optional(),
  rollout: rolloutSchema.optional(),
});

/** The contents of one file, without defaults. */
export type SettingsFile = z.infer<typeof settingsFileSchema>;

/** The settings of a repository after merging files and defaults. `ci.wait` is in milliseconds. */
export interface Settings {
  /** `undefined` if no file says which chains run. */
  chains?: string[] | undefined;
  countersign: z.infer<typeof countersign> & {
    /** The role that named people and team members also need; `write` if absent. */
    least?: NonNullable<Minimum['permission']>;
  };
  merge: z.infer<typeof merge>;
  ci: z.infer<typeof ci>;
  noise: z.infer<typeof noise>;
  /** Absent if no file has it: then nobody is notified. */
  notify?: Notify;
  /** Absent if no file leaves anything out or turns learning off. */
  review?: { ignore: string[]; learning?: 'off' };
  /** Absent without gates, and in runs that began before gates existed. */
  gates?: readonly MandatoryGates[];
  /** Whose settings turn merging off; absent while it is on. */
  mergingOff?: 'organisation' | 'repository';
  /** Whether steps may run commands; absent if no file says so, and then they may not. */
  shell?: 'allow' | 'off_in_organisation';
  /** The lowest trust level for a step with a skill package; absent without a minimum. */
  leastTrust?: TrustLevel;
  /** Sentences about each setting that was below the minimum and was raised to it; absent without any. */
  lifted?: readonly string[];
}

/** How people learn of an open question. */
export type Notify = Omit<z.infer<typeof notify>, 'quiet_hours'> & { quiet_hours?: QuietHours };

const NO_NOTICE: Readonly<Notify> = {
  request_review: false,
  mention: 'never',
  webhooks: [],
  remind: 86_400_000,
};

export type Minimum = NonNullable<SettingsFile['minimum']>;

export const defaultSettings: Readonly<Settings> = {
  countersign: {
    permission: 'maintain',
    teams: [],
    users: [],
    count: 1,
    unattributed: 'one_more',
    review: 'optional',
    approve: ['rocket', '+1'],
    reject: ['-1'],
  },
  merge: { method: 'squash', by: 'app', changes_requested: 'block' },
  ci: { wait: 6 * 3_600_000, no_checks: 'allow', required: [], ignore: [] },
  noise: 'normal',
};

/**
 * Reads `.github/countersign.yml`. An empty file is valid and sets nothing. A file with diagnostics has no
 * settings, and the caller must then not merge: falling back to defaults would drop what the author asked
 * for.
 * @param known the names that gates can apply to; without it, any name is valid
 * @param mayRollOut whether the file can be that of an organisation, which alone sets the rollout
 */
export function parseSettings(
  text: string,
  file: string,
  known?: KnownNames,
  { mayRollOut = true }: { mayRollOut?: boolean } = {},
): { settings: SettingsFile; diagnostics: [] } | { settings?: undefined; diagnostics: Diagnostic[] } {
  const source = readYaml(text, file);
  if (source.value === undefined) return { diagnostics: [...source.diagnostics] };
  if (source.value === null) return { settings: {}, diagnostics: [] };
  const shape = checkShape(settingsFileSchema, source);
  const diagnostics = [
    ...shape.diagnostics,
    ...contradictions(source),
    ...checkMandatoryGates(source, known),
    ...(mayRollOut || memberOf(source.value, 'rollout') === undefined
      ? []
      : [source.diagnostic(['rollout'], ONLY_ORGANISATION, { part: 'key' })]),
  ];
  return shape.value !== undefined && diagnostics.length === 0
    ? { settings: shape.value, diagnostics: [] }
    : { diagnostics: inFileOrder(diagnostics) };
}

const ONLY_ORGANISATION =
  'only the settings of the organisation, in its .github repository, can set "rollout"; here, "merging: off" stops merges and "chains: []" stops runs';

/**
 * Contradictions between settings that are each valid. They are found in the file as written, so that an
 * error elsewhere in the file does not hide them. An invalid entry already has its own diagnostic and is
 * ignored here.
 */
function contradictions(source: YamlSource): Diagnostic[] {
  const [people, checks] = [memberOf(source.value, 'countersign'), memberOf(source.value, 'ci')];
  const approve = entriesOf(memberOf(people, 'approve'), reaction, MAX_REACTIONS);
  const reject = entriesOf(memberOf(people, 'reject'), reaction, MAX_REACTIONS);
  const required = entriesOf(memberOf(checks, 'required'), checkName, MAX_CHECKS);
  const ignore = entriesOf(memberOf(checks, 'ignore'), checkName, MAX_CHECKS);
  // Only this file counts: people who edit the other file may not know of this one.
  const nobody =
    memberOf(people, 'permission') === 'none' &&
    namesNone(memberOf(people, 'teams')) &&
    namesNone(memberOf(people, 'users'));
  const notices = memberOf(source.value, 'notify');
  const isNeverReminded =
    memberOf(notices, 'remind') === 'never' && memberOf(notices, 'mention') === 'reminder';
  return [
    ...(isNeverReminded
      ? [
          source.diagnostic(
            ['notify', 'mention'],
            '"remind: never" sends no reminder, so nobody would be mentioned',
          ),
        ]
      : []),
    ...(nobody
      ? [
          source.diagnostic(
            ['countersign', 'permission'],
            'with "permission: none" nobody could countersign: name teams or users beside it',
          ),
        ]
      : []),
    ...inBoth(approve, reject).map(({ entry, index }) =>
      source.diagnostic(
        ['countersign', 'reject', index],
        `the reaction "${entry}" cannot both approve and reject`,
      ),
    ),
    ...inBoth(required, ignore).map(({ entry, index }) =>
      source.diagnostic(['ci', 'ignore', index], `the check "${entry}" cannot be both required and ignored`),
    ),
  ];
}

/** The entries of a list as the schema parses them, by index; `undefined` for an invalid one. */
function entriesOf<T>(list: Json | undefined, schema: z.ZodType<T>, most: number): (T | undefined)[] {
  return Array.isArray(list) ? list.slice(0, most).map((entry) => schema.safeParse(entry).data) : [];
}

function namesNone(list: Json | undefined): boolean {
  return list === undefined || (Array.isArray(list) && list.length === 0);
}

function inBoth<T>(
  first: readonly (T | undefined)[],
  second: readonly (T | undefined)[],
): { entry: T; index: number }[] {
  const also = new Set(first);
  return second.flatMap((entry, index) => (entry !== undefined && also.has(entry) ? [{ entry, index }] : []));
}

/**
 * Names in `chains:` that no chain has. The rest of such a file stays in force: like a broken chain file, an
 * unknown name disables only the chain that it names. Entries that are not names have a diagnostic of the
 * schema.
 * @param known the names of all chains, including those of broken files
 * @returns `undefined` if the file has no such list, so that another file's list can apply
 */
export function unknownChains(
  text: string,
  file: string,
  known: readonly string[],
): Diagnostic[] | undefined {
  const source = readYaml(text, file);
  const named = memberOf(source.value, 'chains');
  if (!Array.isArray(named)) return undefined;
  return named
    .slice(0, MAX_CHAINS)
    .flatMap((name, index) =>
      typeof name !== 'string' || !CHAIN_NAME.test(name) || known.includes(name)
        ? []
        : [source.diagnostic(['chains', index], notAllowed(`there is no chain "${name}"`, known, name))],
    );
}

/**
 * The stricter of both, key by key. A repository can raise its organisation's minimum for itself, but not
 * lower it.
 */
export function strictestMinimum(organisation: Minimum = {}, repository: Minimum = {}): Minimum {
  const strictest = <T>(order: readonly T[], a: T | undefined, b: T | undefined): T | undefined =>
    [a, b].filter((one) => one !== undefined).toSorted((x, y) => order.indexOf(y) - order.indexOf(x))[0];
  const counts = [organisation.count, repository.count].filter((count) => count !== undefined);
  const permission = strictest(BY_ROLE, organisation.permission, repository.permission);
  const review = organisation.review ?? repository.review;
  const noChecks = organisation.no_checks ?? repository.no_checks;
  const trust = strictest(TRUST_LEVELS, organisation.trust, repository.trust);
  return {
    ...(counts.length > 0 ? { count: Math.max(...counts) } : {}),
    ...(permission === undefined ? {} : { permission }),
    ...(review === undefined ? {} : { review }),
    ...(noChecks === undefined ? {} : { no_checks: noChecks }),
    ...(trust === undefined ? {} : { trust }),
  };
}

/** Roles that a file can require, lowest first. */
const BY_ROLE = ['write', 'maintain', 'admin'] as const;

/**
 * The settings of a file that are below the minimum: the key's path, its value, and the value that applies
 * instead.
 */
function belowMinimum(
  file: SettingsFile,
  { count, permission, review, no_checks }: Minimum,
): { path: [string, string]; given: string; holds: string }[] {
  const { countersign: people, ci: checks } = file;
  const roles: readonly string[] = BY_ROLE;
  const isLooser = (given: string) =>
    given !== 'none' && roles.indexOf(given) < roles.indexOf(permission ?? 'write');
  return [
    ...(people?.count !== undefined && count !== undefined && people.count < count
      ? [{ path: ['countersign', 'count'] as [string, string], given: `${people.count}`, holds: `${count}` }]
      : []),
    ...(people?.permission !== undefined && permission !== undefined && isLooser(people.permission)
      ? [
          {
            path: ['countersign', 'permission'] as [string, string],
            given: people.permission,
            holds: permission,
          },
        ]
      : []),
    ...(people?.review === 'optional' && review === 'required'
      ? [
          {
            path: ['countersign', 'review'] as [string, string],
            given: 'optional',
            holds: 'required',
          },
        ]
      : []),
    ...(checks?.no_checks === 'allow' && no_checks === 'block'
      ? [{ path: ['ci', 'no_checks'] as [string, string], given: 'allow', holds: 'block' }]
      : []),
  ];
}

/**
 * Diagnostics for a settings file that is below the minimum. The minimum applies anyway, and its author
 * should know.
 */
export function diagnosticsBelowMinimum(text: string, file: string, least: Minimum): Diagnostic[] {
  const source = readYaml(text, file);
  const { value } =
    source.value === undefined ? { value: undefined } : checkShape(settingsFileSchema, source);
  if (value === undefined) return [];
  return belowMinimum(value, least).map(({ path, given, holds }) =>
    source.diagnostic(path, `${given} is less than the minimum of the organisation, so ${holds} holds`),
  );
}

/**
 * The settings of a repository: its own file over the organisation's over the defaults, key by key. If the
 * files then contradict each other, the stricter setting wins: a reaction that rejects does not approve, and
 * a required check is not ignored. Gates add up, so that a repository cannot remove one of its organisation.
 * Nothing goes below the organisation's minimum.
 */
export function mergeSettings(
  organisation: SettingsFile | undefined,
  repository: SettingsFile | undefined,
): Settings {
  const defaults = defaultSettings;
  const countersign = overlaid(defaults.countersign, organisation?.countersign, repository?.countersign);
  const ci = overlaid(defaults.ci, organisation?.ci, repository?.ci);
  const mandatory = mandatoryGates(organisation?.gates, repository?.gates);
  const least = strictestMinimum(organisation?.minimum, repository?.minimum);
  const lifted = belowMinimum({ countersign, ci }, least).map(
    ({ path, given, holds }) =>
      `${path.join('.')} is ${holds}, the minimum of the organisation, and not ${given}`,
  );
  const liftedTo = (key: string) =>
    belowMinimum({ countersign, ci }, least).some(({ path }) => path[1] === key);
  const ignored = [
    ...new Set([...(organisation?.review?.ignore ?? []), ...(repository?.review?.ignore ?? [])]),
  ].sort();
  const learnsNothing = [organisation, repository].some((file) => file?.review?.learning === 'off');
  const off =
    organisation?.merging === 'off'
      ? 'organisation'
      : repository?.merging === 'off'
        ? 'repository'
        : undefined;
  return {
    chains: repository?.chains ?? organisation?.chains,
    countersign: {
      ...countersign,
      count: Math.max(countersign.count, least.count ?? 1),
      permission: liftedTo('permission') && least.permission ? least.permission : countersign.permission,
      ...(least.permission === undefined ? {} : { least: least.permission }),
      ...(least.review === undefined ? {} : { review: least.review }),
      approve: countersign.approve.filter((entry) => !countersign.reject.includes(entry)),
    },
    merge: overlaid(defaults.merge, organisation?.merge, repository?.merge),
    ci: {
      ...ci,
      no_checks: least.no_checks ?? ci.no_checks,
      ignore: ci.ignore.filter((name) => !ci.required.includes(name)),
    },
    noise: repository?.noise ?? organisation?.noise ?? defaults.noise,
    ...(organisation?.notify || repository?.notify
      ? { notify: overlaid(NO_NOTICE, organisation?.notify, repository?.notify) }
      : {}),
    ...(ignored.length > 0 || learnsNothing
      ? { review: { ignore: ignored, ...(learnsNothing && { learning: 'off' }) } }
      : {}),
    ...(mandatory.length === 0 ? {} : { gates: mandatory }),
    ...(off === undefined ? {} : { mergingOff: off }),
    ...shellOf(organisation?.shell, repository?.shell),
    ...(least.trust === undefined ? {} : { leastTrust: least.trust }),
    ...(lifted.length === 0 ? {} : { lifted }),
  };
}

function shellOf(
  organisation: SettingsFile['shell'],
  repository: SettingsFile['shell'],
): Pick<Settings, 'shell'> {
  if (organisation === 'off') return { shell: 'off_in_organisation' };
  return (repository ?? organisation) === 'allow' ? { shell: 'allow' } : {};
}

/** The base with all layers applied; a later layer wins. A key whose value is `undefined` changes nothing. */
function overlaid<T extends object>(base: T, ...layers: (Partial<T> | undefined)[]): T {
  const given = layers
    .flatMap((layer) => Object.entries(layer ?? {}))
    .filter(([, value]) => value !== undefined);
  return { ...base, ...Object.fromEntries(given) };
}
