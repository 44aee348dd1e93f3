import { Hono } from 'hono';
import { within } from '../../../core/within.ts';
import { EFFECT_STATUSES } from '../../../domain/effect/effect.ts';
import type { ShownHealth } from '../../../messages/studio/health.ts';
import { effectsPage, operationsPage } from '../../../messages/studio/operations.ts';
import { settingsPage } from '../../../messages/studio/settings.ts';
import { MAX_COUNTED } from '../../../ports/storage.ts';
import { answerPage, type Env, type StudioParts } from '../frame.ts';
import { isOperator } from '../viewer.ts';
import { deliveryPages } from './deliveries.ts';

const LISTED = 50;
const SPENDING_DAYS = 14;
/** Among so many of the newest runs, the owners of installations are looked for. */
const OWNERS_OF_RUNS = 500;
/** How long the app may take to say how it is, in milliseconds. */
const HEALTH_MS = 2_000;

/** The pages of operators. For others, they do not exist. */
export function operationPages(parts: StudioParts): Hono<Env> {
  const { storage, clock, log } = parts;
  const { read } = storage;
  const pages = new Hono<Env>();
  pages.use('/operations/*', async (context, next) =>
    isOperator(context.get('viewer')) ? next() : context.notFound(),
  );

  pages.get('/operations', async (context) => {
    const now = clock.now();
    const [deliveries, effects, jobs, spending, owners, health, fault] = await Promise.all([
      read.deliveries.countByStatus(),
      read.effects.countByStatus(),
      read.operations.jobs(now, MAX_COUNTED),
      read.operations.modelDays(now, SPENDING_DAYS),
      read.operations.owners(OWNERS_OF_RUNS),
      healthOfApp(),
      storage.check().then(
        () => undefined,
        (error: unknown) => String(error),
      ),
    ]);
    const main = operationsPage({ deliveries, effects, jobs, spending, fault, health, owners, now });
    return answerPage(parts, context, { title: 'Operations', main });
  });

  pages.get('/operations/effects', async (context) => {
    const status = EFFECT_STATUSES.find((one) => one === context.req.query('status')) ?? 'failed';
    const [time = '', id = ''] = (context.req.query('before') ?? '').split(' ');
    const at = new Date(time);
    const rows = await read.operations.effects({
      status,
      limit: LISTED + 1,
      ...(id !== '' && !Number.isNaN(at.getTime()) && { before: { at, id } }),
    });
    const last = rows.length > LISTED ? rows[LISTED - 1] : undefined;
    const main = effectsPage({
      effects: rows.slice(0, LISTED),
      status,
      counts: await read.effects.countByStatus(),
      next: last && `${last.updatedAt.toISOString()} ${last.id}`,
    });
    return answerPage(parts, context, { title: 'Effects', main });
  });

  pages.get('/operations/settings', (context) => {
    const main = settingsPage({ settings: parts.settings, isOfApp: parts.health !== undefined });
    return answerPage(parts, context, { title: 'Settings in force', main });
  });

  async function healthOfApp(): Promise<ShownHealth> {
    if (!parts.health) return { kind: 'not_connected' };
    try {
      return { kind: 'known', health: await within(HEALTH_MS, parts.health(), 'the app does not answer') };
    } catch (error) {
      log.warn({ err: error }, 'Studio could not ask how the app is');
      return { kind: 'no_answer' };
    }
  }

  pages.route('/', deliveryPages(parts));
  return pages;
}
