import { Hono } from 'hono';
import { CHAIN_NAME } from '../../../domain/chain/chain.ts';
import type { StoredChain } from '../../../domain/chain/stored.ts';
import { changeStoredChain, STATUS_VERBS } from '../../../engine/configuration/change-stored-chain.ts';
import { chainPage, chainsPage } from '../../../messages/studio/chains.ts';
import type { ChainUse } from '../../../ports/operations.ts';
import { answerPage, type Env, type Request, type StudioParts } from '../frame.ts';
import { isOperator } from '../viewer.ts';

const RUNS_OF_TIMES = 100;
const SCHEDULES = 500;

/** The pages of chains. */
export function chainPages(parts: StudioParts): Hono<Env> {
  const { storage, clock, operator } = parts;
  const { read } = storage;
  const pages = new Hono<Env>();

  /** Operators see all of what is stored; others what is about an owner or a repository that they see. */
  async function storedFor(context: Request, uses: readonly ChainUse[]): Promise<StoredChain[]> {
    const all = await read.chains.all();
    if (isOperator(context.get('viewer'))) return all;
    const names = new Set(uses.map(({ repository }) => repository.toLowerCase()));
    const owners = new Set([...names].map((name) => name.split('/')[0]));
    return all.filter(({ owner, repository }) =>
      repository === null
        ? owners.has(owner.toLowerCase())
        : names.has(`${owner}/${repository}`.toLowerCase()),
    );
  }

  pages.get('/chains', async (context) => {
    const uses = await read.operations.chains(context.get('visible'));
    const main = chainsPage({ uses, stored: await storedFor(context, uses) });
    return answerPage(parts, context, { title: 'Chains', main });
  });

  pages.get('/chains/:name', async (context) => {
    const name = context.req.param('name');
    if (!CHAIN_NAME.test(name)) return context.notFound();
    const visible = context.get('visible');
    const all = await read.operations.chains(visible);
    const uses = all.filter(({ chain }) => chain === name);
    const stored = (await storedFor(context, all)).filter((row) => row.name === name);
    if (uses.length === 0 && stored.length === 0) return context.notFound();
    const [last] = uses;
    const ofLast = last && (await read.runs.get(last.newest.id))?.definition;
    const steps = await read.operations.stepTimes(visible, name, RUNS_OF_TIMES);
    const schedules = (await read.schedules.upcoming(SCHEDULES)).filter(
      (row) => row.chain === name && visible.has(row.repositoryId),
    );
    const viewer = context.get('viewer');
    const csrf = viewer.kind === 'person' && viewer.isOperator && operator ? viewer.csrf : undefined;
    const main = chainPage({ name, ofLast, uses, stored, steps, schedules, csrf });
    return answerPage(parts, context, { title: name, main });
  });

  pages.post('/chains/:name', async (context) => {
    const viewer = context.get('viewer');
    const name = context.req.param('name');
    if (viewer.kind !== 'person' || !viewer.isOperator || !operator) return context.notFound();
    const { id, status } = await context.req.parseBody();
    const row = (await read.chains.all()).find((one) => one.id === id && one.name === name);
    if (!row || (status !== 'active' && status !== 'paused' && status !== 'disabled'))
      return context.notFound();
    await storage.transaction((tx) =>
      changeStoredChain(tx, operator.queue, row, {
        verb: STATUS_VERBS[status],
        change: (stored) => ({ ...stored, status }),
        now: clock.now(),
        by: { kind: 'person', login: viewer.login },
        via: { kind: 'studio' },
      }),
    );
    return context.redirect(`/chains/${name}`, 303);
  });

  return pages;
}
