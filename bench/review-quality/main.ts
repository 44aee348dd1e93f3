import { parseArgs } from 'node:util';
import { compareEngines } from './compare-engines.ts';
import { measureWithModels } from './model/measure.ts';
import { printSmall, smallAsJson } from './model/report-small.ts';
import { smallPullRequests } from './model/small-pull-requests.ts';
import { readSamples } from './read-samples.ts';

/**
 * What the review without a model finds, and how often it is wrong, beside the engines that one could run alone: on
 * weaknesses and their corrected versions, on published packages with known ones, on generated secrets and look-alikes, and
 * on clean code. docs/review.md has the
 * table. `--only` limits the cases to a group, `--list` names what Countersign misses in the half that rules are tuned
 * on, `--clean` counts remarks on the files of another folder, `--write` keeps the result of each rule for docs/review-rules.md.
 *
 * With `--model`, the review with a model beside the one without, on small pull requests: by the answers that
 * are recorded in `recorded/`. `--price` is dollars per million tokens in and out. `--record` first asks the model of
 * COUNTERSIGN_MODEL for the answers that are missing or of an older prompt, for at most `--budget` dollars. `--prompts`
 * writes such prompts to a folder instead, and records the answers beside them under the name `--as`.
 */
const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    only: { type: 'string' },
    clean: { type: 'string' },
    write: { type: 'boolean', default: false },
    model: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    budget: { type: 'string' },
    price: { type: 'string' },
    prompts: { type: 'string' },
    as: { type: 'string' },
  },
});

if (options.model) {
  const { record, budget, price, prompts, as } = options;
  const asked = { record, budget, price, prompts, as };
  const results = await measureWithModels(smallPullRequests(readSamples()), asked);
  if (options.json) console.log(JSON.stringify(smallAsJson(results)));
  else printSmall(results, { list: options.list });
} else await compareEngines(options);
