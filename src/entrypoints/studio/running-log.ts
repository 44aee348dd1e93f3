import { type Invocation, isStepOver } from '../../domain/run/run.ts';
import { addedLines, type RunningLines } from '../../messages/studio/log.ts';
import type { PrintedLines, SessionLogs } from '../../ports/session-logs.ts';
import type { Addition } from './live.ts';
import { lastLines, MAX_BYTES } from './log-ends.ts';

/** The lines of a running step, as a page shows them, and how far they go. */
export interface FollowedLines {
  shown: RunningLines | undefined;
  /** Empty for a step that does not run. */
  place: string;
}

/** A session, and how far its lines go if it has printed any. It comes from browsers, too. */
const PLACE = /^(?<session>\w{1,60})(?:@(?<begun>\d{1,15}):(?<position>\d{1,12}))?$/;

function placeOf(sessionId: string, { begunAt, to }: PrintedLines): string {
  return `${sessionId}@${begunAt.getTime()}:${to}`;
}

/** Names the attempt that printed them, so that a browser never puts lines of two together. */
function idOf(sessionId: string, { begunAt }: PrintedLines): string {
  return `lines-${sessionId}-${begunAt.getTime()}`;
}

/**
 * What a step has printed so far.
 * @param known the place of the lines that the browser has already and keeps
 */
export async function linesOf(
  logs: Pick<SessionLogs, 'read'>,
  runId: string,
  step: Invocation | undefined,
  known = '',
): Promise<FollowedLines> {
  if (!step || step.sessionId === null || isStepOver(step.status)) return { shown: undefined, place: '' };
  const { sessionId } = step;
  const lines = await logs.read({ runId, sessionId }, { most: MAX_BYTES });
  if (!lines) return { shown: undefined, place: sessionId };
  const id = idOf(sessionId, lines);
  const has = PLACE.exec(known)?.groups;
  const isKept = has?.session === sessionId && Number(has.begun) === lines.begunAt.getTime();
  return {
    shown: { id, end: lastLines(Buffer.from(lines.text), lines.from) },
    place: isKept ? known : placeOf(sessionId, lines),
  };
}

/** What the step has printed after a place; `other` if a browser that is there needs the whole part. */
export async function linesAfter(
  logs: Pick<SessionLogs, 'read'>,
  runId: string,
  place: string,
): Promise<Addition | 'other' | undefined> {
  const { session: sessionId = '', begun, position } = PLACE.exec(place)?.groups ?? {};
  if (sessionId === '') return undefined;
  const begunAt = new Date(Number(begun ?? 0));
  const lines = await logs.read(
    { runId, sessionId },
    { after: { begunAt, position: Number(position ?? 0) } },
  );
  if (!lines) return undefined;
  if (lines.begunAt.getTime() !== begunAt.getTime()) return 'other';
  return { html: addedLines(idOf(sessionId, lines), lines.text), place: placeOf(sessionId, lines) };
}
