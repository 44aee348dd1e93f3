import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CountersignError } from '../../core/errors.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import { CHAINS_FOLDER, SETTINGS_FILE } from '../../domain/chain/configuration-files.ts';
import { type Answers, type MergeMethod, tooFewNamed, type Who } from '../../domain/first-look/answers.ts';
import { proposed } from '../../domain/first-look/propose.ts';
import { type FileText, type Seen, seenOf } from '../../domain/first-look/seen.ts';
import {
  configuredAlready,
  doneJson,
  doneText,
  invalidFiles,
  NEEDS_ANSWERS,
  NO_ANSWER,
  NOT_A_CHECKOUT,
  seenText,
} from '../../messages/cli/init.ts';
import { chainFile, settingsFile } from '../../messages/cli/init-files.ts';
import { temporaryFolder } from '../../sandbox/temporary-folder.ts';
import { checkFiles } from './chain-files.ts';
import { checkoutAt, filesOf, writeAll } from './checkout.ts';
import { type Context, type Output, UsageError } from './context.ts';
import { namesKnownIn } from './known-names.ts';

export interface InitOptions {
  yes?: boolean;
  who?: Who;
  count?: number;
  method?: MergeMethod;
  /** `false`: none. */
  checks?: false;
  check?: string[];
}

/** Writes settings and a chain for the repository of this folder, after a look at it and four questions. */
export async function init(context: Context, options: InitOptions): Promise<Output> {
  const { cwd } = context;
  const checkout = checkoutAt(cwd);
  if (!checkout) throw new CountersignError('cli.no_checkout', NOT_A_CHECKOUT);
  const there = filesOf(checkout);
  if (there.configured.length > 0)
    throw new CountersignError('cli.configured', configuredAlready(there.configured));
  const repository = checkout.origin && `${checkout.origin.owner}/${checkout.origin.name}`;
  const seen = seenOf(repository, there, undefined);
  const answers = given(options, proposed(seen));
  if (!options.yes) throw new UsageError(NEEDS_ANSWERS);
  if (tooFewNamed(answers)) throw new UsageError(NO_ANSWER.tooFewNamed);
  const files = filesFor(answers, seen);
  await check(context, checkout.root, files);
  writeAll(checkout, files);
  const done = { seen, answers, files: files.map(({ path }) => path), pullRequest: undefined };
  return { text: `${seenText(seen)}\n\n${doneText(done)}`, json: doneJson(done) };
}

/** The proposed answers, but where options give others. */
function given({ who, count, method, checks, check }: InitOptions, preset: Answers): Answers {
  return {
    who: who ?? preset.who,
    count: count ?? preset.count,
    method: method ?? preset.method,
    checks: checks === false ? [] : (check ?? preset.checks),
  };
}

function filesFor(answers: Answers, { github }: Seen): FileText[] {
  const shipped = readFileSync(join(PACKAGE_ROOT, 'chains/pr-review.yaml'), 'utf8');
  return [
    { path: SETTINGS_FILE, text: settingsFile(answers, github?.hasMergeQueue ?? false) },
    { path: `${CHAINS_FOLDER}/pr-review.yaml`, text: chainFile(shipped) },
  ];
}

/**
 * Checks the files as `chain lint` does, in a folder of their own.
 * @param root whose skills a chain could name
 * @throws CountersignError for errors
 */
async function check({ tools }: Context, root: string, files: readonly FileText[]): Promise<void> {
  const folder = await temporaryFolder('init');
  try {
    writeAll({ root: folder }, files);
    const chains = await tools.chains();
    const names = await namesKnownIn(root, [], chains.known, tools);
    const checked = checkFiles(
      folder,
      [],
      names,
      () => chains.shipped,
      (chain) => chains.foldContracts(chain, names.packages),
    );
    const diagnostics = checked.flatMap((file) => file.diagnostics);
    if (diagnostics.length > 0) throw new CountersignError('cli.invalid_files', invalidFiles(diagnostics));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
