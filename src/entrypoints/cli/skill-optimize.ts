import { CountersignError } from '../../core/errors.ts';
import { familyOf } from '../../domain/model/name.ts';
import { parseModule } from '../../domain/skill/module.ts';
import { pathOf } from '../../domain/skill/place.ts';
import { optimizing } from '../../messages/cli/progress.ts';
import {
  badExamples,
  cannotOptimize,
  noModule,
  noOutcome,
  optimizedText,
} from '../../messages/skills/module.ts';
import { createSkillKeeper } from '../../skills/catalogue/keep.ts';
import { parseExamples } from '../../skills/kinds/module/examples.ts';
import { optimizeModule } from '../../skills/kinds/module/optimize.ts';
import { createSidecar } from '../../skills/kinds/module/sidecar.ts';
import { readState } from '../../skills/kinds/module/state.ts';
import { variantFor } from '../../skills/runtime/variant.ts';
import type { Context, DatabaseOption, Output } from './context.ts';
import { readText } from './files.ts';
import { localSkills, skillNamed } from './skill-files.ts';

export interface SkillOptimizeOptions extends DatabaseOption {
  examples: string;
  seed: number;
  demos: number;
}

/**
 * Measures the skill's module and stores the found examples only if they improve it. They apply to these
 * exact files: the app uses them for runs that start with a package of the same content.
 */
export async function skillOptimize(
  { cwd, clock, tools, status }: Context,
  name: string,
  { examples: file, seed, demos, database }: SkillOptimizeOptions,
): Promise<Output> {
  const found = skillNamed(name, localSkills(cwd, await tools.skills()));
  const { id, outcome, artifacts } = found.skill;
  const first = artifacts.find(({ kind }) => kind === 'dspy_module');
  if (!first) throw new CountersignError('cli.no_module', noModule(name));
  if (outcome === null) throw new CountersignError('cli.no_module', noOutcome(name));

  return tools.withDatabase(database, 'write', async (storage) => {
    const model = await tools.model(storage);
    const artifact = variantFor(artifacts, first.name, familyOf(model.name)) ?? first;
    const path = pathOf(artifact);
    const module = parseModule(artifact.content);
    const read = parseExamples(readText(cwd, file), file, module, outcome);
    if ('diagnostics' in read) throw new CountersignError('cli.bad_examples', badExamples(read.diagnostics));

    await createSkillKeeper({ storage, clock })(found);
    const stored = (await storage.read.skills.get(id))?.artifacts.find((one) => pathOf(one) === path);
    const sidecar = createSidecar({ clock });
    try {
      const optimized = await optimizeModule({
        sidecar,
        model,
        module,
        outcome,
        state: readState(stored?.state ?? null, module, outcome),
        examples: read.examples,
        seed,
        mostDemos: demos,
        purpose: {
          runId: null,
          sessionId: null,
          repositoryId: null,
          pullRequest: null,
          skill: name,
          artifact: path,
        },
        signal: new AbortController().signal,
        onProgress: (stage) => status(optimizing(stage)),
      });
      if (optimized.kind === 'failed') {
        throw new CountersignError('cli.cannot_optimize', cannotOptimize(name, optimized.because));
      }
      const { kind, before, trained, heldOut } = optimized;
      const isStored = kind === 'better';
      if (isStored) {
        const now = clock.now();
        await storage.transaction((tx) => tx.skills.saveState(`${id}/${path}`, optimized.state, now));
      }
      return {
        text: optimizedText(path, optimized),
        json: {
          name,
          id,
          artifact: path,
          before,
          after: kind === 'no_demos' ? null : optimized.after,
          trained,
          held_out: heldOut,
          demos: kind === 'no_demos' ? 0 : optimized.state.demos.length,
          stored: isStored,
        },
      };
    } finally {
      await sidecar.stop();
    }
  });
}
