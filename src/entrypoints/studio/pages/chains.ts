import { Hono } from 'hono';
import { CHAIN_NAME } from '../../../domain/chain/chain.ts';
import { changeStoredChain, STATUS_VERBS } from '../../../engine/configuration/change-stored-chain.ts';
import { chainPage, chainPath, chainsPage } from '../../../messages/studio/chains.ts';
import { answerPage, type Env, type StudioParts } from '../frame.ts';
import { knownChains } from '../known-chains.ts';

const RUNS_OF_TIMES = 100;
const SCHEDULES = 500;

/** The pages of chains. */
export function chainPages(parts: StudioParts): Hono<Env> {
  const { storage, clock, operator } = parts;
  const { read } = storage;
  const pages = new Hono<Env>();

  pages.get('/chains', async (context) => {
    const main = chainsPage(await knownChains(parts, context));
    return answerPage(parts, context, { title: 'Chains', main });
  });

  pages.on('GET', ['/chains/:name', '/chains/named/:name'], async (context) => {
    const name = context.req.param('name');
    if (!CHAIN_NAME.test(name)) return context.notFound();
    const visible = context.get('visible');
    const all = await knownChains(parts, context);
    const uses = all.uses.filter(({ chain }) => chain === name);
    const stored = all.stored.filter((row) => row.name === name);
    const shipped = all.shipped.find(({ chain }) => chain.name === name);
    if (uses.length === 0 && stored.length === 0 && !shipped) return context.notFound();
    const [last] = uses;
    const ofLast = last && (await read.runs.get(last.newest.id))?.definition;
    const steps = await read.operations.stepTimes(visible, name, RUNS_OF_TIMES);
    const schedules = (await read.schedules.upcoming(SCHEDULES)).filter(
      (row) => row.chain === name && visible.has(row.repositoryId),
    );
    const viewer = context.get('viewer');
    const csrf = viewer.kind === 'person' && viewer.isOperator && operator ? viewer.csrf : undefined;
    const main = chainPage({ name, ofLast, shipped, uses, stored, steps, schedules, csrf });
    return answerPage(parts, context, { title: name, main });
  });

  pages.on('POST', ['/chains/:name', '/chains/named/:name'], async (context) => {
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
    return context.redirect(chainPath(name), 303);
  });

  return pages;
}
