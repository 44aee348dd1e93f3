import type { IncomingMessage, ServerResponse } from 'node:http';
import { CountersignError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { within } from '../../core/within.ts';
import { deliveryFacts } from './delivery/facts.ts';
import type { Intake } from './delivery/intake.ts';
import type { AnswerCounts } from './metrics-page.ts';
import { DELIVERY_ID, EVENT_NAME } from './receive.ts';
import { REFUSALS } from './refusals.ts';
import { answerIfRouted, type Route, refuse } from './routes.ts';

/** A delivery that a Probot server received: it has checked the signature and parsed the body. */
export interface ProbotEvent {
  /** The delivery's GUID. */
  id: string;
  name: string;
  payload: object;
}

/**
 * The longest time for recording, in milliseconds. After 9 s, Probot's server answers 202 whatever happens later
 * (`timeout` in `src/middleware/node/index.ts` of @octokit/webhooks 14), and GitHub would regard the delivery as accepted.
 */
const RECORD_MS = 8_000;

/**
 * Records the deliveries of a Probot server. Resolves once the delivery is stored durably, and Probot answers
 * after that. If it rejects, Probot answers 500, so that the delivery can be redelivered.
 *
 * Probot does not pass on the signed bytes, so the payload is written as JSON again.
 */
export function recordEvents({
  intake,
  answers,
  log,
  timeoutMs = RECORD_MS,
}: {
  intake: Intake;
  answers: AnswerCounts;
  log: Log;
  timeoutMs?: number;
}) {
  return async ({ id, name, payload }: ProbotEvent): Promise<void> => {
    if (!EVENT_NAME.test(name)) throw refusal(REFUSALS.eventHeader.error);
    if (!DELIVERY_ID.test(id)) throw refusal(REFUSALS.deliveryHeader.error);
    const body = Buffer.from(JSON.stringify(payload));
    const accepted = intake.accept({ guid: id, event: name, body, facts: deliveryFacts(payload) });
    try {
      await within(timeoutMs, accepted, `not recorded within ${timeoutMs} ms`);
      answers.add(200);
    } catch (err) {
      answers.add(500);
      log.error({ delivery: id, event: name, err }, 'webhook could not be recorded');
      throw refusal(REFUSALS.notRecorded.error);
    }
  };
}

function refusal(message: string): CountersignError {
  return new CountersignError('webhook.refused', message);
}

/** Answers the requests of a Probot server for these routes, and leaves all others to its other handlers. */
export function answerPages(routes: ReadonlyMap<string, Route>, log: Log) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    try {
      return await answerIfRouted(routes, request, response);
    } catch (err) {
      log.error({ err }, 'request failed');
      if (response.headersSent) response.destroy();
      else refuse(response, REFUSALS.broken);
      return true;
    }
  };
}
