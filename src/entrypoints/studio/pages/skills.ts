import { Hono } from 'hono';
import { skillPage, skillsPage } from '../../../messages/studio/skills.ts';
import { answerPage, type Env, type StudioParts } from '../frame.ts';

const TRACES_COUNTED = 5_000;
const TRACES_SHOWN = 50;

/** The pages of skills. */
export function skillPages(parts: StudioParts): Hono<Env> {
  const { chainTools } = parts;
  const { read } = parts.storage;
  const pages = new Hono<Env>();

  pages.get('/skills', async (context) => {
    const uses = await read.operations.skills(context.get('visible'), TRACES_COUNTED);
    const { shippedSkills } = await chainTools();
    const main = skillsPage({ uses, adopted: await read.skills.adopted(), shipped: shippedSkills });
    return answerPage(parts, context, { title: 'Skills', main });
  });

  pages.get('/skills/:name', async (context) => {
    const name = context.req.param('name');
    const traces = await read.operations.tracesOf(context.get('visible'), name, TRACES_SHOWN);
    const ids = [...new Set(traces.map(({ skillId }) => skillId))];
    const versions = await read.operations.versionsOf(name, ids);
    const shipped = (await chainTools()).shippedSkills.find((one) => one.name === name);
    if (traces.length === 0 && versions.length === 0 && !shipped) return context.notFound();
    const [last] = ids;
    const shown = (last === undefined ? undefined : await read.skills.get(last)) ?? shipped;
    return answerPage(parts, context, { title: name, main: skillPage({ name, shown, traces, versions }) });
  });

  return pages;
}
