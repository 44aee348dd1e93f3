import { z } from 'zod';
import { redact } from '../../core/redact/redact.ts';
import { OWN_FILES } from '../../domain/artifact/left-files.ts';
import { duration, listOrOne } from '../../domain/chain/shape.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { makeOutcome } from '../../domain/outcome/outcome.ts';
import { CAPABILITIES } from '../../domain/policy/capability.ts';
import { SHELL_NOT_IN_SETTINGS, SHELL_OFF_IN_ORGANISATION } from '../../messages/skills/shell.ts';
import { clip } from '../../messages/text/pretty.ts';
import type { StepContext, StepResult } from '../steps/step.ts';
import type { PlainAction } from './action.ts';
import { invalidInput, readInputs, subjectInput } from './inputs.ts';

const USUAL_TIMEOUT_MS = 600_000;
/** In UTF-16 units. */
const MAX_TAIL = 2_000;
const MAX_LOG = 1_000_000;

const NO_EXPRESSION =
  '"run" cannot contain expressions, because their values would become part of the command; pass them in "env"';

const BAD_NAME = 'a variable has capital letters, digits and underscores, such as TITLE';

const input = z.strictObject({
  ...subjectInput,
  run: z
    .string()
    .min(1)
    .max(10_000)
    .regex(/^(?![\s\S]*\{[{%#])/, { error: NO_EXPRESSION })
    .describe(
      'The command, for `sh -c`. It cannot contain expressions: their values would become part of the command.',
    )
    .meta({ literal: true }),
  env: z
    .record(
      z.string().regex(/^[A-Z_][A-Z0-9_]{0,63}$/),
      z.union([z.string().max(10_000), z.number(), z.boolean()]),
      { error: ({ code }) => (code === 'invalid_key' ? BAD_NAME : undefined) },
    )
    .optional()
    .describe('Variables of the command’s environment, such as `TITLE: "{{ trigger.title }}"`.'),
  timeout: duration('1h').optional().describe('At most `1h`; `10m` if left out. After it, the step fails.'),
  artifacts: listOrOne(z.string().min(1).max(200), { most: 20 })
    .optional()
    .describe('Globs of the files to leave, such as `coverage/**`: at most 20 files, and 1 MB each.'),
});

/** Runs commands of the chain on the files of the head, which are hostile, in a sandbox without network and secrets. */
export const shell: PlainAction = {
  name: 'shell',
  about:
    'Runs a command on a copy of the files of the head, in a sandbox without network and secrets ([how it is held](shell.md)). Off unless the operator and the settings allow it.',
  permissions: ['contents: read'],
  input,
  once: 'nothing is written to GitHub; after a crash, the command runs again',
  waits: false,
  isReview: true,
  capability: CAPABILITIES.shell,
  async run(context) {
    const read = readInputs(input, context);
    if ('problem' in read) return invalidInput('shell', read.problem);
    const { run: command, env = {}, timeout = USUAL_TIMEOUT_MS, artifacts = [] } = read.value;
    // The rendered text would hide the expression.
    if (context.step.with.run !== command) return invalidInput('shell', NO_EXPRESSION);
    const { run } = context.state;
    const refused = notAllowed(context) ?? (await context.shell.unusable());
    if (refused !== undefined) return failed(refused);
    if (run.headSha === '') return failed('this run has no commit whose files the command could use');
    const started = context.clock.now().getTime();
    const ended = await context.shell.run({
      run,
      command,
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
      timeoutMs: timeout,
      artifacts,
      onOutput: context.print,
      signal: context.signal,
    });
    const log = redact(ended.log);
    const blobs = [{ kind: 'log' as const, name: OWN_FILES.shell, data: log.slice(-MAX_LOG) }];
    const shown = clip(command.split('\n')[0] ?? '', 60);
    switch (ended.kind) {
      case 'failed':
        return { ...failed(ended.because, ended.retryable), blobs };
      case 'not_run':
        return { kind: 'done', outcome: outcome(`would run ${shown}`, null, {}) };
      case 'exited': {
        const { code, files } = ended;
        const details = {
          exit_code: code,
          duration_ms: context.clock.now().getTime() - started,
          output: log.slice(-MAX_TAIL).trim(),
          files: files.map(({ path }) => path),
        };
        return {
          kind: 'done',
          outcome: outcome(`${shown} exited with ${code}`, code === 0, details),
          blobs: [
            ...blobs,
            ...files.map(({ path, bytes }) => ({ kind: 'file' as const, name: path, data: bytes })),
          ],
        };
      }
    }
  },
};

function notAllowed({ state: { run } }: StepContext): string | undefined {
  const { shell: setting } = run.settings;
  if (setting === 'allow') return undefined;
  return setting === 'off_in_organisation' ? SHELL_OFF_IN_ORGANISATION : SHELL_NOT_IN_SETTINGS;
}

function failed(because: string, retryable = false): Extract<StepResult, { kind: 'failed' }> {
  return { kind: 'failed', reason: reason('step.failed.error', because), retryable };
}

function outcome(
  summary: string,
  passed: boolean | null,
  details: Record<string, string | number | string[]>,
) {
  return makeOutcome<'action_result'>({
    outcome_kind: 'action_result',
    summary: redact(summary),
    passed,
    action: 'shell',
    details,
  });
}
