import { z } from 'zod';
import { notAllowed } from '../../core/diagnostic.ts';
import { compileGlob, globProblem } from '../../core/glob.ts';
import { memberOf } from '../../core/mapping.ts';
import { ROLLOUT_LEVELS, type RolloutLevel } from '../policy/rollout.ts';
import { readYaml } from './positions.ts';
import { checkShape, listOrOne } from './shape.ts';

const level = z.enum(ROLLOUT_LEVELS);

const repositories = listOrOne(
  z
    .string()
    .min(1)
    .max(100)
    .refine((glob) => globProblem(glob) === undefined && !glob.includes('/'), {
      error: 'a glob for names of repositories, without their owner, such as shop-*',
    }),
  { most: 100 },
);

const EVERY_REPOSITORY = '*';

const entry = z.strictObject({
  repositories: repositories.describe(
    'Globs for names of repositories, without their owner. Case does not matter.',
  ),
  level: level.describe('The level of the repositories that no earlier entry matches.'),
});

/** `rollout:` of an organisation's settings. One level stands for a list with an entry for all repositories. */
export const rolloutSchema = z
  .preprocess(
    (value) =>
      level.safeParse(value).success ? [{ repositories: [EVERY_REPOSITORY], level: value }] : value,
    z
      .array(entry, {
        error: ({ input }) =>
          typeof input === 'string'
            ? notAllowed(`"rollout" cannot be ${JSON.stringify(input)}`, ROLLOUT_LEVELS, input)
            : undefined,
      })
      .min(1)
      .max(50)
      // A repository that nobody thought of must not get a level by accident.
      .refine((entries) => entries.at(-1)?.repositories.includes(EVERY_REPOSITORY), {
        error: 'the last entry must be for all other repositories: repositories: "*"',
      }),
  )
  .meta({ orOneOf: ROLLOUT_LEVELS })
  .describe(
    'How far Countersign is rolled out. off: no run begins. observe: runs write nothing to GitHub and ask nobody; Studio shows what they would do. comment: check runs, comments and reviews are written, and nobody is asked. enforce: everything. One level for all repositories, or a list in which the first entry that matches counts. Only the settings of an organisation can have it.',
  );

export type RolloutSetting = z.infer<typeof rolloutSchema>;

/** @param name of the repository, without its owner */
export function levelFor(setting: RolloutSetting | undefined, name: string): RolloutLevel {
  if (setting === undefined) return 'enforce';
  // GitHub compares names without case.
  const matches = (glob: string) => compileGlob(glob.toLowerCase())(name.toLowerCase());
  return setting.find(({ repositories }) => repositories.some(matches))?.level ?? 'off';
}

/** What a file says of the rollout, whatever else is wrong in it. */
export type ReadRollout =
  | { kind: 'read'; setting: RolloutSetting | undefined }
  /** `mentioned`: it says something of the rollout that cannot be read. */
  | { kind: 'unreadable'; mentioned: boolean };

export function readRollout(text: string, file: string): ReadRollout {
  const source = readYaml(text, file);
  if (source.value === undefined) return { kind: 'unreadable', mentioned: /rollout/i.test(text) };
  const written = memberOf(source.value, 'rollout');
  if (written === undefined) return { kind: 'read', setting: undefined };
  const { value } = checkShape(z.looseObject({ rollout: rolloutSchema }), source);
  return value ? { kind: 'read', setting: value.rollout } : { kind: 'unreadable', mentioned: true };
}
