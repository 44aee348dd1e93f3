import { Argument, type Command, Option } from 'commander';
import { API_SCOPES } from '../../domain/api-token/api-token.ts';
import { RUN_STATUSES } from '../../domain/run/run.ts';
import { MAX_LISTED } from '../../messages/cli/cli.ts';
import { COMPLETION_SHELLS, type CompletionShell } from '../../messages/cli/completion.ts';
import { DELIVERY_STATUSES } from '../../ports/storage.ts';
import type { ArtifactCheckOptions } from './artifact-check.ts';
import type { ArtifactGetOptions } from './artifact-get.ts';
import type { ArtifactListOptions } from './artifact-list.ts';
import type { ArtifactPruneOptions } from './artifact-prune.ts';
import type { AuditExportOptions } from './audit-export.ts';
import type { ChainExplainOptions } from './chain-explain.ts';
import type { FireOptions } from './chain-fire.ts';
import type { ChainRunOptions } from './chain-run.ts';
import type { ChainShowOptions } from './chain-show.ts';
import type { PlaceOptions } from './chain-store.ts';
import type { ChainTestOptions } from './chain-test.ts';
import type { ConfigCheckOptions } from './config-check.ts';
import type { DatabaseOption, DoctorOptions, Perform } from './context.ts';
import type { DeliveryListOptions } from './delivery-list.ts';
import { example } from './help.ts';
import type { LearnOptions } from './learn.ts';
import {
  commit,
  duration,
  input,
  limit,
  login,
  newest,
  pullRequest,
  pullRequestOf,
  repository,
  since,
} from './options.ts';
import type { SimulateOptions } from './policy-simulate.ts';
import type { ReportOptions } from './report.ts';
import type { RunListOptions } from './run-list.ts';
import type { RunShowOptions } from './run-show.ts';
import type { RunTailOptions } from './run-tail.ts';
import type { RunExplanationOptions } from './run-why.ts';
import type { TokenCreateOptions } from './token.ts';

const DEFAULT_LISTED = 20;

/** Adds the verbs of each noun but `skill` and `init` to the noun's command. */
export const VERBS: Readonly<Record<string, (noun: Command, perform: Perform) => void>> = {
  try: addTry,
  doctor: addDoctor,
  import: addImport,
  config: addConfig,
  chain: addChain,
  run: addRun,
  policy: addPolicy,
  learn: addLearn,
  report: addReport,
  delivery: addDelivery,
  artifact: addArtifact,
  state: addState,
  audit: addAudit,
  token: addToken,
  organisation: addOrganisation,
  db: addDb,
  completion: addCompletion,
};

function addTry(command: Command, perform: Perform): void {
  command
    .argument('<pull request>', 'owner/name#number, or its address')
    .option('--chain <name or file>', 'the chain that decides', 'pr-review')
    .action((pullRequest: string, options: { chain: string }) =>
      perform(async (context) => (await import('./try.ts')).tryPullRequest(context, pullRequest, options)),
    );
  example(command, 'countersign try acme/shop#12');
}

function addDoctor(doctor: Command, perform: Perform): void {
  doctor
    .addOption(
      new Option(
        '--settings <file>',
        'a file with settings, such as .env; environment variables take precedence',
      ),
    )
    .addOption(
      new Option(
        '--repo <owner/name>',
        'look at the default branch of this repository, instead of those of the first ten',
      ).argParser(repository),
    )
    .action((options: DoctorOptions) =>
      perform(async (context) => (await import('./doctor.ts')).doctor(context, options)),
    );
  example(doctor, 'countersign doctor --settings .env');
}

function addImport(noun: Command, perform: Perform): void {
  const policyBot = noun
    .command('policy-bot')
    .description('say a policy of policy-bot in settings and a chain, and list what has no counterpart')
    .argument('<file>', 'the policy, such as .policy.yml')
    .option('--out <folder>', 'write both files into this checkout, which has none of them yet')
    .action((file: string, options: { out?: string }) =>
      perform(async (context) =>
        (await import('./import-policy-bot.ts')).importPolicyBot(context, file, options),
      ),
    );
  example(policyBot, 'countersign import policy-bot .policy.yml --out .');
}

function addConfig(config: Command, perform: Perform): void {
  const check = config
    .command('check')
    .description('read the settings and chains of all repositories from GitHub, and list their errors')
    .addOption(
      new Option(
        '--organisation <login>',
        'only its repositories (default: wherever the App is installed)',
      ).argParser(login),
    )
    .addOption(
      new Option('--repo <owner/name>', 'only this one').argParser(repository).conflicts('organisation'),
    )
    .addOption(databaseOption())
    .action((options: ConfigCheckOptions) =>
      perform(async (context) => (await import('./config-check.ts')).configCheck(context, options)),
    );
  example(check, 'countersign config check --organisation acme');
}

function addChain(chain: Command, perform: Perform): void {
  const lint = chain
    .command('lint')
    .description('report every error and warning in chain files and settings')
    .argument(
      '[files or folders...]',
      'a folder with .github is a repository; in any other folder, the YAML files are checked (default: this repository)',
    )
    .option('--strict', 'fail for warnings, too')
    .action((paths: string[], options: { strict?: boolean }) =>
      perform(async (context) => (await import('./chain-lint.ts')).chainLint(context, paths, options)),
    );
  example(lint, 'countersign chain lint .github/countersign/chains/deploy.yaml');

  const list = chain
    .command('list')
    .description('list the shipped chains and those in .github/countersign/chains')
    .option('--stored', 'instead, what is stored in the database: definitions and statuses')
    .addOption(repoOption())
    .addOption(databaseOption())
    .action((options: PlaceOptions & { stored?: boolean }) =>
      perform(async (context) =>
        options.stored
          ? (await import('./chain-store.ts')).chainListStored(context, options)
          : (await import('./chain-list.ts')).chainList(context),
      ),
    );
  example(list, 'countersign chain list');

  const show = chain
    .command('show')
    .description('show one chain with the order of its steps')
    .argument('<name>', 'the name of a chain')
    .addOption(repoOption())
    .addOption(
      new Option('--owner <login>', 'all repositories of this owner').argParser(login).conflicts('repo'),
    )
    .addOption(databaseOption())
    .option('--source', 'print the chain as it is written, to be copied')
    .action((name: string, options: ChainShowOptions) =>
      perform(async (context) => (await import('./chain-show.ts')).chainShow(context, name, options)),
    );
  example(show, 'countersign chain show pr-review');

  const fire = chain
    .command('fire')
    .description('queue a run of a chain for a branch or a pull request, whatever the chain’s trigger')
    .argument('<chain>', 'the name of a chain')
    .argument('[inputs...]', 'inputs for the chain, each as key=value')
    .addOption(repoOption().makeOptionMandatory())
    .addOption(prOption())
    .addOption(
      new Option(
        '--ref <branch>',
        'the branch, without a pull request; the default branch if left out',
      ).conflicts('pr'),
    )
    .addOption(new Option('--input <key=value>', 'an input for the chain; repeatable').argParser(input))
    .option('--no-wait', 'do not wait for the app’s answer')
    .addOption(databaseOption())
    .action((name: string, inputs: string[], options: FireOptions) =>
      perform(async (context) => (await import('./chain-fire.ts')).chainFire(context, name, inputs, options)),
    );
  addChainExplain(chain, perform);
  addChainRun(chain, perform);
  addChainTest(chain, perform);
  addChainStore(chain, perform);
  addSchedules(chain, perform);
  example(fire, 'countersign chain fire deploy --repo acme/shop --pr 7 environment=staging');
}

function addChainExplain(chain: Command, perform: Perform): void {
  const explain = chain
    .command('explain')
    .description('show why a delivery fired a chain or did not, trigger by trigger')
    .argument('<chain>', 'the name of a chain')
    .requiredOption('--delivery <id or GUID>', 'the delivery, as delivery list shows it')
    .addOption(databaseOption())
    .action((name: string, options: ChainExplainOptions) =>
      perform(async (context) => (await import('./chain-explain.ts')).chainExplain(context, name, options)),
    );
  example(explain, 'countersign chain explain pr-review --delivery 0b989ba4-242f-11e5-81e1-c7b6966d2516');
}

function addChainRun(chain: Command, perform: Perform): void {
  const run = chain
    .command('run')
    .description('show what a chain would do for a pull request, with the token in GITHUB_TOKEN')
    .argument('<chain>', 'a chain file, or the name of a chain')
    .addOption(new Option('--dry-run', 'write nothing to GitHub').makeOptionMandatory())
    .addOption(new Option('--pr <owner/name#number>', 'the pull request').argParser(pullRequestOf))
    .addOption(
      new Option('--against <last:count>', 'instead, the newest pull requests of a repository')
        .argParser(newest)
        .conflicts('pr'),
    )
    .addOption(
      new Option('--repo <owner/name>', 'the repository, for --against or without a pull request').argParser(
        repository,
      ),
    )
    .addOption(
      new Option('--actor <login>', 'as if this person had fired the chain, whatever its trigger').argParser(
        login,
      ),
    )
    .addOption(new Option('--input <key=value>', 'an input for a fired chain; repeatable').argParser(input))
    .action((subject: string, options: ChainRunOptions) =>
      perform(async (context) => (await import('./chain-run.ts')).chainRun(context, subject, options)),
    );
  example(run, 'countersign chain run .github/countersign/chains/deploy.yaml --pr acme/shop#7 --dry-run');
}

function addChainTest(chain: Command, perform: Perform): void {
  const test = chain
    .command('test')
    .description('run the cases of one chain, or of all, in .github/countersign/tests')
    .argument('[chain]', 'the name of a chain')
    .option('--case <words>', 'only cases whose name has these words')
    .option('--show', 'also print what each case writes, as a dry run does')
    .action((name: string | undefined, options: ChainTestOptions) =>
      perform(async (context) => (await import('./chain-test.ts')).chainTest(context, name, options)),
    );
  example(test, 'countersign chain test pr-review');
}

function addSchedules(chain: Command, perform: Perform): void {
  const check = chain
    .command('check')
    .description('evaluate all schedules and fire what is due; for cron of the system')
    .addOption(databaseOption())
    .action((options: DatabaseOption) =>
      perform(async (context) => (await import('./chain-check.ts')).chainCheck(context, options)),
    );
  example(check, 'countersign chain check');
  const daemon = chain
    .command('daemon')
    .description('evaluate all schedules every 30 seconds, until it is stopped')
    .addOption(databaseOption())
    .action((options: DatabaseOption) =>
      perform(async (context) => (await import('./chain-check.ts')).chainDaemon(context, options)),
    );
  example(daemon, 'countersign chain daemon');
  const schedules = chain
    .command('schedules')
    .description('list when chains fire next, and what became of the newest firings')
    .addOption(databaseOption())
    .action((options: DatabaseOption) =>
      perform(async (context) => (await import('./chain-check.ts')).chainSchedules(context, options)),
    );
  example(schedules, 'countersign chain schedules');
}

function addChainStore(chain: Command, perform: Perform): void {
  const at = (command: Command) =>
    command
      .addOption(repoOption())
      .addOption(new Option('--owner <login>', 'all repositories of this owner').argParser(login))
      .addOption(databaseOption());
  const define = at(
    chain
      .command('define')
      .description('store a chain in the database, for a repository or for all of an owner')
      .argument('<file>', 'a chain file'),
  ).action((file: string, options: PlaceOptions) =>
    perform(async (context) => (await import('./chain-store.ts')).chainDefine(context, file, options)),
  );
  example(define, 'countersign chain define deploy.yaml --repo acme/shop');

  const verbs = [
    ['pause', 'paused', 'let a chain start no run until it is resumed; runs that have begun go on'],
    ['resume', 'active', 'let a chain start runs again'],
    ['disable', 'disabled', 'let a chain count as removed until it is resumed'],
  ] as const;
  for (const [verb, status, description] of verbs) {
    const command = at(
      chain.command(verb).description(description).argument('<name>', 'the name of a chain'),
    ).action((name: string, options: PlaceOptions) =>
      perform(async (context) =>
        (await import('./chain-store.ts')).chainStatus(context, name, options, status),
      ),
    );
    example(command, `countersign chain ${verb} pr-review --repo acme/shop`);
  }
}

function addRun(run: Command, perform: Perform): void {
  const list = run
    .command('list')
    .description('list runs, newest first')
    .addOption(repoOption())
    .addOption(prOption())
    .addOption(new Option('--status <status>', 'only this status').choices(RUN_STATUSES))
    .addOption(new Option('--active', 'only unfinished runs').conflicts('status'))
    .addOption(limitOption())
    .addOption(databaseOption())
    .action((options: RunListOptions) =>
      perform(async (context) => (await import('./run-list.ts')).runList(context, options)),
    );
  example(list, 'countersign run list --repo acme/shop --active');

  const show = run
    .command('show')
    .description('show one run with its steps')
    .argument('<id>', 'the id of a run')
    .addOption(new Option('--history', 'every change of status, and who or what caused it'))
    .addOption(new Option('--state', 'also its working memory'))
    .addOption(databaseOption())
    .action((id: string, options: RunShowOptions) =>
      perform(async (context) => (await import('./run-show.ts')).runShow(context, id, options)),
    );
  example(show, 'countersign run show run_01k2x7');

  const tail = run
    .command('tail')
    .description('show a run live until it ends, with what its steps print; fails unless the run succeeds')
    .argument('[run]', 'the id of a run (default: the newest)')
    .addOption(repoOption())
    .addOption(prOption())
    .addOption(new Option('--follow', 'all unfinished runs and those that begin, until Ctrl-C'))
    .addOption(databaseOption())
    .action((id: string | undefined, options: RunTailOptions) =>
      perform(async (context) => (await import('./run-tail.ts')).runTail(context, id, options)),
    );
  example(tail, 'countersign run tail --repo acme/shop --pr 7');

  const why = run
    .command('why')
    .description('show why the pull request is or is not merging, as a tree of reasons')
    .argument('<run>', 'the id of a run, or a pull request as owner/name#number')
    .addOption(new Option('--verbose', "also the conditions of the chain's steps, as they are written"))
    .addOption(databaseOption())
    .action((id: string, options: RunExplanationOptions) =>
      perform(async (context) => (await import('./run-why.ts')).runExplanation(context, id, options)),
    );
  example(why, 'countersign run why acme/shop#7');

  const cancel = run
    .command('cancel')
    .description('queue the cancellation of an unfinished run')
    .argument('<id>', 'the id of a run')
    .addOption(databaseOption())
    .action((id: string, options: DatabaseOption) =>
      perform(async (context) => (await import('./run-cancel.ts')).runCancel(context, id, options)),
    );
  example(cancel, 'countersign run cancel run_01k2x7');
}

function addPolicy(policy: Command, perform: Perform): void {
  const explain = policy
    .command('explain')
    .description('show for each step of a run what it needs, what the run has, and the decision')
    .argument('<run>', 'the id of a run')
    .addOption(databaseOption())
    .action((id: string, options: DatabaseOption) =>
      perform(async (context) => (await import('./policy-explain.ts')).policyExplain(context, id, options)),
    );
  example(explain, 'countersign policy explain run_01k2x7');

  const simulate = policy
    .command('simulate')
    .description('show what the chains could do for a pull request, without running them')
    .addOption(repoOption().makeOptionMandatory())
    .addOption(prOption().makeOptionMandatory())
    .addOption(new Option('--actor <login>', 'the person who fires each chain').argParser(login))
    .addOption(new Option('--head <sha>', 'the head to judge instead of the newest').argParser(commit))
    .addOption(databaseOption())
    .action((options: SimulateOptions) =>
      perform(async (context) => (await import('./policy-simulate.ts')).policySimulate(context, options)),
    );
  example(simulate, 'countersign policy simulate --repo acme/shop --pr 7 --actor mia');
}

function addLearn(learn: Command, perform: Perform): void {
  learn
    .addOption(repoOption())
    .addOption(new Option('--forget <rule>', 'show findings of this rule again in the repository'))
    .addOption(databaseOption())
    .action((options: LearnOptions) =>
      perform(async (context) => (await import('./learn.ts')).learn(context, options)),
    );
  example(learn, 'countersign learn --repo acme/shop');
  example(learn, 'countersign learn --repo acme/shop --forget sql/index-locks-writes');
}

function addReport(report: Command, perform: Perform): void {
  report
    .addOption(new Option('--organisation <login>', 'only its repositories').argParser(login))
    .addOption(
      new Option('--repo <owner/name>', 'only this one').argParser(repository).conflicts('organisation'),
    )
    .addOption(
      new Option('--since <when>', 'count what ended since, such as 7d or 2026-03-01')
        .argParser(since)
        .default({ agoMs: DAYS_30 }, '30d'),
    )
    .addOption(databaseOption())
    .action((options: ReportOptions) =>
      perform(async (context) => (await import('./report.ts')).report(context, options)),
    );
  example(report, 'countersign report --organisation acme --since 7d');
}

function addDelivery(delivery: Command, perform: Perform): void {
  const list = delivery
    .command('list')
    .description('list deliveries, newest first')
    .addOption(new Option('--status <status>', 'only this status').choices(DELIVERY_STATUSES))
    .addOption(limitOption())
    .addOption(databaseOption())
    .action((options: DeliveryListOptions) =>
      perform(async (context) => (await import('./delivery-list.ts')).deliveryList(context, options)),
    );
  example(list, 'countersign delivery list --status failed');

  const replay = delivery
    .command('replay')
    .description('process a delivery again; effects that already happened do not happen twice')
    .argument('<delivery>', 'its number or its GUID, as delivery list shows them')
    .addOption(databaseOption())
    .action((guid: string, options: DatabaseOption) =>
      perform(async (context) =>
        (await import('./delivery-replay.ts')).deliveryReplay(context, guid, options),
      ),
    );
  example(replay, 'countersign delivery replay 0b989ba4-242f-11e5-81e1-c7b6966d2516');
}

function addArtifact(artifact: Command, perform: Perform): void {
  const list = artifact
    .command('list')
    .description('list outcomes, logs and files of steps, newest first')
    .addOption(new Option('--run <id>', 'only those of this run'))
    .addOption(
      new Option(
        '--kind <kind>',
        'only this kind: an outcome such as review_verdict, or file, log, analyzer_output',
      ),
    )
    .addOption(new Option('--failed', 'only outcomes that have not passed'))
    .addOption(
      new Option('--since <when>', 'only those made since, such as 7d or 2026-03-01').argParser(since),
    )
    .addOption(limitOption())
    .addOption(databaseOption())
    .action((options: ArtifactListOptions) =>
      perform(async (context) => (await import('./artifact-list.ts')).artifactList(context, options)),
    );
  example(list, 'countersign artifact list --kind review_verdict --failed --since 7d');

  const show = artifact
    .command('show')
    .description('show one artifact: what it is, and the members of an outcome')
    .argument('<id>', 'the id of an artifact')
    .addOption(databaseOption())
    .action((id: string, options: DatabaseOption) =>
      perform(async (context) => (await import('./artifact-show.ts')).artifactShow(context, id, options)),
    );
  example(show, 'countersign artifact show art_01k2x7');

  const get = artifact
    .command('get')
    .description('print the content of an artifact, or write it to a file')
    .argument('<id>', 'the id of an artifact')
    .addOption(new Option('--output <file>', 'the file to write, which must not exist yet'))
    .addOption(databaseOption())
    .action((id: string, options: ArtifactGetOptions) =>
      perform(async (context) => (await import('./artifact-get.ts')).artifactGet(context, id, options)),
    );
  example(get, 'countersign artifact get art_01k2x7 --output review.md');

  const prune = artifact
    .command('prune')
    .description('delete the artifacts of runs that ended long ago: their rows and their blobs')
    .addOption(
      new Option('--older-than <duration>', 'how long ago the run ended, such as 90d')
        .argParser(duration)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--dry-run', 'only say what would be deleted'))
    .addOption(databaseOption())
    .action((options: ArtifactPruneOptions) =>
      perform(async (context) => (await import('./artifact-prune.ts')).artifactPrune(context, options)),
    );
  example(prune, 'countersign artifact prune --older-than 90d --dry-run');

  const check = artifact
    .command('check')
    .description('find blobs without rows and rows without blobs')
    .addOption(new Option('--hashes', 'also read every blob and report the damaged ones'))
    .addOption(new Option('--repair', 'delete blobs without rows and rows without blobs'))
    .addOption(databaseOption())
    .action((options: ArtifactCheckOptions) =>
      perform(async (context) => (await import('./artifact-check.ts')).artifactCheck(context, options)),
    );
  example(check, 'countersign artifact check --repair');
}

function addState(state: Command, perform: Perform): void {
  const session = state
    .command('show-session')
    .description('show one attempt at a step: how it ended, what it had to leave and what it left')
    .argument('<id>', 'the id of a session')
    .addOption(databaseOption())
    .action((id: string, options: DatabaseOption) =>
      perform(async (context) => (await import('./session-show.ts')).sessionShow(context, id, options)),
    );
  example(session, 'countersign state show-session ses_01k2x7');
}

function addAudit(audit: Command, perform: Perform): void {
  const exportLines = audit
    .command('export')
    .description('write the audit log as JSON lines, oldest first')
    .addOption(
      new Option('--since <when>', 'only lines recorded since, such as 30d or 2026-03-01').argParser(since),
    )
    .addOption(new Option('--repo <owner/name>', 'only this repository').argParser(repository))
    .addOption(databaseOption())
    .action((options: AuditExportOptions) =>
      perform(async (context) => (await import('./audit-export.ts')).auditExport(context, options)),
    );
  example(exportLines, 'countersign audit export --since 30d --repo acme/shop');
}

function addOrganisation(organisation: Command, perform: Perform): void {
  const forget = organisation
    .command('forget')
    .description('confirm that an organisation no longer has settings')
    .argument('<owner>', 'the login of the organisation')
    .addOption(databaseOption())
    .action((owner: string, options: DatabaseOption) =>
      perform(async (context) =>
        (await import('./organisation-forget.ts')).organisationForget(context, owner, options),
      ),
    );
  example(forget, 'countersign organisation forget octo');
}

function addToken(token: Command, perform: Perform): void {
  const create = token
    .command('create')
    .description('make a token for the API, which is shown once')
    .argument('<name>', 'what you call it, such as the program that uses it')
    .addOption(
      new Option('--scope <scope>', 'operate also reads deliveries').choices(API_SCOPES).default('read'),
    )
    .addOption(
      new Option('--repo <owner/name...>', 'only these repositories (default: all)').argParser(
        (text: string, before: readonly string[] = []) => [...before, repository(text)],
      ),
    )
    .addOption(new Option('--expires <after>', 'such as 30d').argParser(duration).default(DAYS_90, '90d'))
    .addOption(databaseOption())
    .action((name: string, options: TokenCreateOptions) =>
      perform(async (context) => (await import('./token.ts')).tokenCreate(context, name, options)),
    );
  example(create, 'countersign token create dashboard --repo octo/app --expires 30d');

  const list = token
    .command('list')
    .description('list all tokens, newest first, without the tokens themselves')
    .addOption(databaseOption())
    .action((options: DatabaseOption) =>
      perform(async (context) => (await import('./token.ts')).tokenList(context, options)),
    );
  example(list, 'countersign token list');

  const revoke = token
    .command('revoke')
    .description('end a token at once')
    .argument('<id>', 'the id of a token')
    .addOption(databaseOption())
    .action((id: string, options: DatabaseOption) =>
      perform(async (context) => (await import('./token.ts')).tokenRevoke(context, id, options)),
    );
  example(revoke, 'countersign token revoke tok_01k2x7');
}

const DAYS_30 = 30 * 24 * 3_600_000;
const DAYS_90 = 90 * 24 * 3_600_000;

function addDb(db: Command, perform: Perform): void {
  const migrate = db
    .command('migrate')
    .description('migrate the database, or create it; the app also does this when it starts')
    .addOption(databaseOption())
    .action((options: DatabaseOption) =>
      perform(async (context) => (await import('./db-migrate.ts')).dbMigrate(context, options)),
    );
  example(migrate, 'countersign db migrate');

  const backup = db
    .command('backup')
    .description('write a consistent copy of the database; the app may run')
    .argument('<file>', 'the file to write, which must not exist yet')
    .addOption(databaseOption())
    .action((file: string, options: DatabaseOption) =>
      perform(async (context) => (await import('./db-backup.ts')).dbBackup(context, file, options)),
    );
  example(backup, 'countersign db backup countersign-backup.db');

  const copy = db
    .command('copy')
    .description('copy an SQLite database to PostgreSQL, or go on with such a copy; the app must not run')
    .argument('<from>', 'the database to copy: sqlite:PATH')
    .argument('[to]', 'an empty database: postgres://USER:PASSWORD@HOST/DATABASE (default: DATABASE_URL)')
    .action((from: string, to: string | undefined) =>
      perform(async (context) => (await import('./db-copy.ts')).dbCopy(context, from, to)),
    );
  example(copy, 'countersign db copy sqlite:data/countersign.db');

  const vacuum = db
    .command('vacuum')
    .description('rewrite the database file without its free pages; the app must not run')
    .addOption(databaseOption())
    .action((options: DatabaseOption) =>
      perform(async (context) => (await import('./db-vacuum.ts')).dbVacuum(context, options)),
    );
  example(vacuum, 'countersign db vacuum');
}

function addCompletion(completion: Command, perform: Perform): void {
  completion
    .addArgument(new Argument('<shell>', 'the shell that you use').choices(COMPLETION_SHELLS))
    .argument('[words...]', 'a command line: print what can follow it, as the script asks')
    .action((shell: CompletionShell, words: string[]) =>
      perform(async (context) =>
        // All words of this command line were read to build the program, so it has the verbs of those to complete.
        (await import('./completion.ts')).completion(context, completion.parent ?? completion, shell, words),
      ),
    );
  example(completion, 'countersign completion bash > ~/.countersign-completion');
}

function databaseOption(): Option {
  return new Option('--database <url>', 'the database, instead of DATABASE_URL');
}

function repoOption(): Option {
  return new Option('--repo <owner/name>', 'the repository').argParser(repository);
}

function prOption(): Option {
  return new Option('--pr <number>', 'the pull request').argParser(pullRequest);
}

function limitOption(): Option {
  return new Option('--limit <count>', `how many, up to ${MAX_LISTED}`)
    .argParser(limit)
    .default(DEFAULT_LISTED);
}
