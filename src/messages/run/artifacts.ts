import { unreachable } from '../../core/errors.ts';
import { type Contract, entryLabel } from '../../domain/artifact/contract.ts';
import { type Delivery, deliveryOf } from '../../domain/artifact/delivery.ts';
import { type Expectation, expectationOf, expectationsOf } from '../../domain/chain/artifact-expectations.ts';
import type { RunState, Session } from '../../domain/run/run.ts';
import { fitting } from '../text/fitting.ts';
import { code, tableProse } from '../text/markdown.ts';
import { capital, clip, plural } from '../text/pretty.ts';

/** Everything that the run's steps must produce, with what they did produce. */
function expectations({ run, invocations }: RunState): Expectation[] {
  return expectationsOf(run.definition, invocations);
}

/** `undefined` without a contract, and before the first step with one has ended. */
export function delivery({ invocations }: RunState): Delivery | undefined {
  return deliveryOf(invocations.flatMap(({ verification }) => verification ?? []));
}

const DELIVERY_WORDS: Readonly<Record<Delivery, string>> = {
  passed: 'all that was asked for so far is there',
  partial: 'some of it is missing',
  missing: 'nothing of it is there',
  invalid: 'something is there, and not what was asked for',
};

const MARKS: Readonly<Record<Expectation['state'], string>> = {
  produced: '✅',
  absent: '❌',
  invalid: '❌',
  open: '⏳',
  not_run: '⏭️',
};

/** The section of a check run; `undefined` if nothing is required. */
export function artifactsSection(state: RunState): string | undefined {
  const all = expectations(state);
  if (all.length === 0) return undefined;
  const now = delivery(state);
  const { lines, left } = fitting(all, row, { items: 60, bytes: 9_000 });
  const rest = left === 0 ? [] : [`| | … and ${left} more | | |`];
  return [
    `### Expected artifacts${now === undefined ? '' : `: ${now}`}`,
    ...(now === undefined || now === 'passed' ? [] : [`${capital(DELIVERY_WORDS[now])}.`]),
    ['| | Step | Expected | Produced |', '|---|---|---|---|', ...lines, ...rest].join('\n'),
  ].join('\n\n');
}

function row(expectation: Expectation): string {
  const { stepId, entry } = expectation;
  const optional = entry.required ? '' : ' (optional)';
  return `| ${markOf(expectation)} | ${code(clip(stepId, 60))} | ${code(clip(entryLabel(entry), 100))}${optional} | ${tableProse(producedText(expectation), 160)} |`;
}

/** A missing optional artifact is only a warning. */
function markOf({ state, entry }: Expectation): string {
  return !entry.required && (state === 'absent' || state === 'invalid') ? '⚠️' : MARKS[state];
}

function producedText(expectation: Expectation): string {
  const { state, entry, produced, because } = expectation;
  switch (state) {
    case 'produced':
      if (entry.kind === 'outcome') return 'recorded';
      return produced.files === 1
        ? fileInWords(produced.first, produced.size)
        : `${produced.files} files, ${bytes(produced.size)}`;
    case 'absent':
      return `missing: ${because}`;
    case 'invalid':
      return `not as asked: ${because}`;
    case 'open':
      return 'not yet';
    case 'not_run':
      return 'the step was skipped';
    default:
      return unreachable(state);
  }
}

/**
 * `2 of 3 expected artifacts are there; missing: report.json`; `undefined` if nothing has been checked
 * yet.
 */
export function artifactsInWords(state: RunState): { met: boolean; words: string } | undefined {
  if (delivery(state) === undefined) return undefined;
  const checked = expectations(state).filter((one) => one.state !== 'open' && one.state !== 'not_run');
  const present = checked.filter((one) => one.state === 'produced');
  const missing = checked.filter((one) => one.state !== 'produced').map(({ entry }) => entryLabel(entry));
  const words = `${present.length} of ${plural(checked.length, 'expected artifact')} ${present.length === 1 ? 'is' : 'are'} there`;
  return {
    met: missing.length === 0,
    words:
      missing.length === 0
        ? words
        : `${words}; missing: ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ', …' : ''}`,
  };
}

/** The rows of `run show`. */
export function artifactRows(state: RunState): string[][] {
  return expectations(state).map((expectation) => [expectation.stepId, ...rowCells(expectation)]);
}

/** The rows of `state show-session`. */
export function expectationRows({ contract, verification }: Session, stepId: string): string[][] {
  return (contract?.expected ?? []).map((entry) => rowCells(expectationOf(stepId, entry, verification)));
}

function rowCells(expectation: Expectation): string[] {
  const { entry, produced, state } = expectation;
  const first = state === 'produced' && produced.files === 1 ? produced.first : undefined;
  return [
    entryLabel(entry),
    entry.required ? 'required' : 'optional',
    first?.mime_type === undefined
      ? producedText(expectation)
      : `${bytes(produced.size)}, ${first.mime_type}`,
    first?.artifact_id ?? '',
  ];
}

/**
 * `3 expected: 2 required, 1 optional; all paths relative; no id collisions`: the report of `chain lint` on
 * valid contracts.
 */
export function contractSummary(contracts: readonly Contract[]): string | undefined {
  const all = contracts.flatMap(({ expected }) => expected);
  if (all.length === 0) return undefined;
  const required = all.filter((entry) => entry.required).length;
  const optional = all.length - required;
  return `${all.length} expected: ${required} required, ${optional} optional; all paths relative; no id collisions`;
}

/** `1.2 KB, text/plain, sha256 5f2a08c19b3d, \`countersign artifact get art_1\``. */
function fileInWords(file: Expectation['produced']['first'], size: number): string {
  return [
    bytes(size),
    ...(file?.mime_type === undefined ? [] : [file.mime_type]),
    ...(file?.sha256 === undefined ? [] : [`sha256 ${file.sha256.slice(0, 12)}`]),
    ...(file?.artifact_id === undefined ? [] : [`\`countersign artifact get ${file.artifact_id}\``]),
  ].join(', ');
}

function bytes(size: number): string {
  if (size < 1_024) return plural(size, 'byte');
  return size < 1_048_576 ? `${(size / 1_024).toFixed(1)} KB` : `${(size / 1_048_576).toFixed(1)} MB`;
}
