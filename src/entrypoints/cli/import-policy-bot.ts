import { resolve } from 'node:path';
import { CountersignError } from '../../core/errors.ts';
import { readYaml } from '../../domain/chain/positions.ts';
import { type PolicyFile, readPolicy, withMergeKeys } from '../../domain/policy-bot/policy.ts';
import { type Difference, translate } from '../../domain/policy-bot/translate.ts';
import {
  type ImportReport,
  importedFiles,
  importJson,
  importText,
  invalidImport,
  isBlocking,
  notAPolicy,
  type PlacedDifference,
} from '../../messages/cli/import-policy-bot.ts';
import { checkWritten } from './check-written.ts';
import { writeAll } from './checkout.ts';
import type { Context, Output } from './context.ts';
import { readText } from './files.ts';

/** Says a policy of policy-bot in settings and a chain, and lists what has no counterpart. */
export async function importPolicyBot(
  context: Context,
  file: string,
  { out }: { out?: string },
): Promise<Output> {
  const { cwd } = context;
  const source = readYaml(readText(cwd, file), file);
  if (source.value === undefined)
    throw new CountersignError('cli.bad_policy', notAPolicy(source.diagnostics));
  const policy = readPolicy(withMergeKeys(source.value));
  if ('errors' in policy) {
    const diagnostics = policy.errors.map(({ place, message }) => source.diagnostic(place, message));
    throw new CountersignError('cli.bad_policy', notAPolicy(diagnostics));
  }
  const translation = translate(policy);
  const files = importedFiles(translation);
  await checkWritten(context, files, invalidImport);
  if (out !== undefined) writeAll({ root: resolve(cwd, out) }, files);

  const placed = translation.differences.map((difference): PlacedDifference => {
    const { line, column } = source.diagnostic(difference.place, '', { part: 'key' });
    return { difference, line, column, rule: ruleAt(policy, difference) };
  });
  placed.sort((a, b) => a.line - b.line || a.column - b.column);
  const report: ImportReport = {
    file,
    rules: translation.rules.map(({ name, place, isUsed }) => {
      // How people approve makes a rule neither stricter nor looser.
      const about = placed
        .filter(({ rule, difference }) => rule === name && difference.kind !== 'method')
        .map(({ difference }) => difference);
      const { line } = source.diagnostic(place, '');
      const result = !isUsed
        ? 'unused'
        : about.some(isBlocking)
          ? 'blocked'
          : about.length > 0
            ? 'stricter'
            : 'same';
      return { name, line, result };
    }),
    differences: placed,
  };
  return { text: importText(report, files, out), json: importJson(report, files, out) };
}

function ruleAt({ rules }: PolicyFile, { place }: Difference): string | undefined {
  return [...rules.values()].find((rule) => rule.place.every((part, at) => place[at] === part))?.name;
}
