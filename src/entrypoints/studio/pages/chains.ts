import { Hono } from 'hono';
import { CHAIN_STATUSES } from '../../../domain/chain/stored.ts';
import { changeStoredChain, STATUS_VERBS } from '../../../engine/configuration/change-stored-chain.ts';
import { chainForm } from '../../../messages/studio/chain-form.ts';
import { chainPath } from '../../../messages/studio/chain-path.ts';
import { chainPage, chainsPage, keyOf, placesOf } from '../../../messages/studio/chains.ts';
import { fieldsFor } from '../chain-given.ts';
import { answerPage, type Env, type StudioParts } from '../frame.ts';
import { chainNamed, knownChains } from '../known-chains.ts';

const RUNS_OF_TIMES = 100;
const SCHEDULES = 50;

/** The pages of chains. */
export function chainPages(parts: StudioParts): Hono<Env> {
  const { storage, clock, operator, dryRuns } = parts;
  const { read } = storage;
  const pages = new Hono<Env>();

  pages.get('/chains', async (context) => {
    const given = (name: string) => context.req.query(name)?.trim().slice(0, 200) || undefined;
    const query = {
      text: given('text'),
      repository: given('repository'),
      state: CHAIN_STATUSES.find((one) => one === context.req.query('state')),
    };
    const main = chainsPage({ ...(await knownChains(parts, context, query)), query });
    return answerPage(parts, context, { title: 'Chains', main });
  });

  pages.on('GET', ['/chains/:name', '/chains/named/:name'], async (context) => {
    const name = context.req.param('name');
    const visible = context.get('visible');
    const known = await chainNamed(parts, context, name);
    if (!known) return context.notFound();
    const steps = await read.operations.stepTimes(visible, name, RUNS_OF_TIMES);
    const schedules = await read.schedules.upcoming(SCHEDULES, { chain: name, visible });
    const viewer = context.get('viewer');
    const person = viewer.kind === 'person' ? viewer : undefined;
    const main = chainPage({
      ...known,
      steps,
      schedules,
      csrf: person?.isOperator && operator ? person.csrf : undefined,
      isReadOnly: viewer.kind === 'machine',
      form:
        person && dryRuns
          ? chainForm(name, person.csrf, fieldsFor(known.definition, known.newest))
          : undefined,
    });
    return answerPage(parts, context, { title: name, main });
  });

  pages.on('POST', ['/chains/:name', '/chains/named/:name'], async (context) => {
    const viewer = context.get('viewer');
    const name = context.req.param('name');
    if (viewer.kind !== 'person' || !viewer.isOperator || !operator) return context.notFound();
    const { place: key, status: given } = await context.req.parseBody();
    const status = CHAIN_STATUSES.find((one) => one === given);
    const known = await chainNamed(parts, context, name);
    const place = known && placesOf(known.uses, known.stored).find((one) => keyOf(one) === key);
    if (!place || !status) return context.notFound();
    await storage.transaction((tx) =>
      changeStoredChain(
        tx,
        operator.queue,
        { ...place, name },
        {
          verb: STATUS_VERBS[status],
          change: (stored) => ({ ...stored, status }),
          now: clock.now(),
          by: { kind: 'person', login: viewer.login },
          via: { kind: 'studio' },
        },
      ),
    );
    return context.redirect(chainPath(name), 303);
  });

  return pages;
}
