import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import { notAllowed } from '../../core/diagnostic.ts';
import type { Artifact } from '../../domain/artifact/artifact.ts';
import type { Verification } from '../../domain/artifact/verification.ts';
import { plainLine } from '../../domain/run/explain.ts';
import type { Invocation, Run, RunState, Session } from '../../domain/run/run.ts';
import { expectationRows } from '../run/artifacts.ts';
import { asSentence } from '../text/pretty.ts';
import { PLAIN, type Screen } from '../text/screen.ts';
import { place } from './cli.ts';
import { table } from './table.ts';
import { ago } from './terminal.ts';

export function unknownArtifact(id: string): string {
  return `There is no artifact ${plainLine(id)}; countersign artifact list shows those there are.`;
}

export function noSuchKind(kind: string, known: readonly string[]): string {
  return asSentence(notAllowed(`there is no kind of artifact "${plainLine(kind)}"`, known, kind));
}

export function unknownSession(id: string): string {
  return `There is no session ${plainLine(id)}; countersign run show --history names those of a run.`;
}

export function blobIsGone(id: string): string {
  return `The content of ${plainLine(id)} is no longer in the store; countersign artifact check says more.`;
}

export function notForTerminals(id: string): string {
  return `The artifact ${plainLine(id)} is no plain text; write it to a file with --output.`;
}

export function artifactWritten(file: string, bytes: number): string {
  return `Wrote ${bytes} bytes to ${plainLine(file)}.`;
}

/** `artifact list`, in the given order. */
export function artifactTable(
  listed: readonly { artifact: Artifact; run: Run | undefined }[],
  now: Date,
  screen: Screen = PLAIN,
): string {
  if (listed.length === 0) return 'No such artifacts.';
  return table(
    [
      'ARTIFACT',
      'KIND',
      'NAME',
      { heading: 'PASSED', whole: true },
      { heading: 'RUN', leftOut: 3 },
      { heading: 'PULL REQUEST', keeps: 'end', leftOut: 2 },
      { heading: 'AGE', whole: true, leftOut: 1 },
    ],
    listed.map(({ artifact, run }) => [
      artifact.id,
      artifact.kind,
      artifact.name,
      passedWord(artifact),
      artifact.runId,
      run ? place(run) : '',
      ago(artifact.createdAt, now),
    ]),
    { screen },
  );
}

function passedWord({ content }: Artifact): string {
  if (content === null) return '';
  const { passed } = JSON.parse(content) as { passed?: unknown };
  return passed === true ? 'yes' : passed === false ? 'no' : '-';
}

export const artifactJsonSchema = z.strictObject({
  id: z.string(),
  run_id: z.string(),
  invocation_id: z.string(),
  session_id: z.string(),
  /** The kind of an outcome, or `file`, `log` or `analyzer_output`. */
  kind: z.string(),
  name: z.string(),
  /** Of an outcome; `null` for a file. */
  content: z.json().nullable(),
  file_path: z.string().nullable(),
  created_at: z.iso.datetime(),
});

export function artifactJson({
  id,
  runId,
  invocationId,
  sessionId,
  kind,
  name,
  content,
  filePath,
  createdAt,
}: Artifact) {
  return {
    id,
    run_id: runId,
    invocation_id: invocationId,
    session_id: sessionId,
    kind,
    name,
    content: content === null ? null : (JSON.parse(content) as Json),
    file_path: filePath,
    created_at: createdAt.toISOString(),
  };
}

/** `artifact show`: what it is, and an outcome with all its members. */
export function artifactText(
  {
    artifact,
    run,
    size,
    produced,
  }: {
    artifact: Artifact;
    run: Run | undefined;
    size: number | undefined;
    produced: Verification['produced'][number] | undefined;
  },
  now: Date,
): string {
  const { id, kind, name, content, sessionId, createdAt } = artifact;
  const facts: [string, string][] = [
    ['kind', kind],
    ['name', name],
    ['run', `${artifact.runId}${run ? ` (${run.chain}, ${place(run)})` : ''}`],
    ['session', sessionId],
    ['created', ago(createdAt, now)],
    ...(size === undefined ? [] : ([['size', `${size} bytes`]] as [string, string][])),
    ...(produced?.mime_type === undefined ? [] : ([['type', produced.mime_type]] as [string, string][])),
    ...(produced?.sha256 === undefined ? [] : ([['sha256', produced.sha256]] as [string, string][])),
  ];
  const lines = facts.map(([label, text]) => `${label.padEnd(8)} ${plainLine(text)}`);
  const rest =
    content === null
      ? [`countersign artifact get ${id} prints it.`]
      : JSON.stringify(JSON.parse(content), null, 2).split('\n').map(plainText);
  return [id, ...lines, '', ...rest].join('\n');
}

/** A line of JSON with its indentation, and nothing that a terminal would obey. */
function plainText(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  return `${indent}${plainLine(line.slice(indent.length))}`;
}

interface FoundSession {
  session: Session;
  invocation: Invocation;
  state: RunState;
}

export function sessionJson({ session, invocation, state: { run } }: FoundSession) {
  return {
    id: session.id,
    run_id: run.id,
    chain: run.chain,
    step: invocation.stepId,
    attempt: session.attempt,
    status: session.status,
    reason: session.reason,
    contract: session.contract,
    verification: session.verification,
    started_at: session.startedAt.toISOString(),
    finished_at: session.finishedAt?.toISOString() ?? null,
  };
}

/** `state show-session`. */
export function sessionText(
  { session, invocation, state: { run }, artifacts }: FoundSession & { artifacts: readonly Artifact[] },
  now: Date,
  screen: Screen = PLAIN,
): string {
  const facts: [string, string][] = [
    ['run', `${run.id} (${run.chain}, ${place(run)})`],
    ['step', `${invocation.stepId}, attempt ${session.attempt}`],
    ['status', session.status],
    ...(session.reason
      ? ([['reason', `${session.reason.code}: ${session.reason.summary}`]] as [string, string][])
      : []),
    ['started', ago(session.startedAt, now)],
    ...(session.finishedAt ? ([['ended', ago(session.finishedAt, now)]] as [string, string][]) : []),
    ...(session.verification ? ([['verified', session.verification.status]] as [string, string][]) : []),
  ];
  const expected = expectationRows(session, invocation.stepId);
  return [
    session.id,
    ...facts.map(([label, text]) => `${label.padEnd(8)} ${plainLine(text)}`),
    ...(expected.length === 0
      ? []
      : ['', table(['EXPECTED', 'NEED', 'PRODUCED', 'ARTIFACT'], expected, { screen })]),
    '',
    artifacts.length === 0
      ? 'It left no artifacts.'
      : table(
          ['ARTIFACT', 'KIND', 'NAME', 'PASSED'],
          artifacts.map((artifact) => [artifact.id, artifact.kind, artifact.name, passedWord(artifact)]),
          { screen },
        ),
  ].join('\n');
}
