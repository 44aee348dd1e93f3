import { Hono } from 'hono';
import { CountersignError, unreachable } from '../../../core/errors.ts';
import { replayDelivery } from '../../../engine/jobs/replay-delivery.ts';
import {
  deliveriesPage,
  deliveryPage,
  type ReplayRefused,
  type ShownReading,
} from '../../../messages/studio/deliveries.ts';
import { DELIVERY_STATUSES, MAX_COUNTED } from '../../../ports/storage.ts';
import { answerPage, type Env, type Request, type StudioParts } from '../frame.ts';

const LISTED = 50;
/** Larger bodies would block other pages while they are read. GitHub's own are seldom over 100 KB. */
const MAX_READ_BYTES = 5_000_000;

/** The pages of deliveries, for operators; the caller keeps others out. */
export function deliveryPages(parts: StudioParts): Hono<Env> {
  const { storage, clock, operator } = parts;
  const { read } = storage;
  const pages = new Hono<Env>();
  const mayChange = (context: Request) => {
    const viewer = context.get('viewer');
    return viewer.kind === 'person' && viewer.isOperator && operator ? { ...viewer, operator } : undefined;
  };

  pages.get('/operations/deliveries', async (context) => {
    const status = DELIVERY_STATUSES.find((one) => one === context.req.query('status'));
    const [event, repository, text] = ['event', 'repository', 'text'].map(
      (name) => context.req.query(name)?.trim().slice(0, 200) || undefined,
    );
    const given = context.req.query('before') ?? '';
    const before = /^\d{1,15}$/.test(given) ? Number(given) : undefined;
    const found = await read.operations.deliveries({
      limit: LISTED,
      ...(status && { status }),
      ...(event !== undefined && { event }),
      ...(repository !== undefined && { repository }),
      ...(text !== undefined && { text }),
      ...(before !== undefined && { before }),
    });
    const main = deliveriesPage({ found, query: { status, event, repository, text } });
    return answerPage(parts, context, { title: 'Deliveries', main });
  });

  pages.get('/operations/deliveries/:guid', async (context) => {
    const guid = context.req.param('guid');
    const page = await shown(context, guid);
    if (page) return page;
    // Runs and the audit log know a delivery by its number.
    const numbered = /^\d{1,15}$/.test(guid) && (await read.operations.delivery({ id: Number(guid) }));
    return numbered ? context.redirect(addressOf(numbered.guid), 302) : context.notFound();
  });

  pages.post('/operations/deliveries/:guid/replay', async (context) => {
    const allowed = mayChange(context);
    if (!allowed) return context.notFound();
    const guid = context.req.param('guid');
    const { queue, jobOf } = allowed.operator;
    const by = { kind: 'person', login: allowed.login } as const;
    const replayed = await unlessDamaged(() =>
      storage.transaction((tx) =>
        replayDelivery(tx, { queue, jobOf, now: clock.now(), by, via: { kind: 'studio' } }, guid),
      ),
    );
    switch (replayed.kind) {
      case 'asked':
        return context.redirect(addressOf(guid), 303);
      case 'unknown':
        return context.notFound();
      case 'no_body':
      case 'is_waiting':
      case 'damaged':
        return (await shown(context, guid, replayed)) ?? context.notFound();
      default:
        return unreachable(replayed);
    }
  });

  /** The page of a delivery, or `undefined` if there is none. */
  async function shown(
    context: Request,
    guid: string,
    refused?: ReplayRefused,
  ): Promise<Response | undefined> {
    const delivery = await read.operations.delivery({ guid });
    if (!delivery) return undefined;
    const [job, runs, reading] = await Promise.all([
      read.operations.jobOfDelivery(delivery.id, MAX_COUNTED),
      read.runs.list({ deliveryId: delivery.id, limit: LISTED + 1 }),
      readingOf(delivery),
    ]);
    const csrf = mayChange(context)?.csrf;
    const main = deliveryPage({
      delivery,
      job,
      reading,
      runs: runs.slice(0, LISTED),
      hasMore: runs.length > LISTED,
      may: csrf === undefined ? { kind: 'read_only' } : { kind: 'yes', csrf },
      refused,
    });
    return answerPage(parts, context, { title: `Delivery ${guid}`, main }, refused ? 409 : 200);
  }

  async function readingOf({
    guid,
    bodyBytes,
  }: {
    guid: string;
    bodyBytes: number | null;
  }): Promise<ShownReading> {
    if (bodyBytes === null) return { kind: 'no_body' };
    if (!operator) return { kind: 'not_connected' };
    if (bodyBytes > MAX_READ_BYTES) return { kind: 'too_large' };
    return unlessDamaged(async () => {
      const delivery = await read.deliveries.byGuid(guid);
      return delivery ? operator.readingOf(delivery) : { kind: 'no_body' };
    });
  }

  return pages;
}

function addressOf(guid: string): string {
  return `/operations/deliveries/${encodeURIComponent(guid)}`;
}

async function unlessDamaged<T>(work: () => Promise<T>): Promise<T | { kind: 'damaged' }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CountersignError && error.code === 'storage.unreadable_row')
      return { kind: 'damaged' };
    throw error;
  }
}
