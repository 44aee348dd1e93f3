/** Durable writes of stories that only the long form plays. */
export const ONLY_IN_LONG_FORM = [
  'approvals.saveAnswers',
  'appliedCommands.put',
  'acceptedFindings.put',
  'acceptedFindings.remove',
  'modelCalls.begin',
  'modelCalls.end',
  'skills.keep',
  'runs.chooseSkill',
  'skillCalls.insert',
  'skillCalls.save',
  'skillTraces.insert',
  'missedDeliveries.put',
];

/** Durable writes that a story reaches rarely, or only after a first death; the long form kills there too. */
export const SELDOM = [
  'jobs.release',
  'missedDeliveries.remove',
  'jobs.extend',
  'runs.renameRepository',
] as const;

/** Durable writes that a story reaches or not, depending on the moment. */
export const SOMETIMES = ['deliveries.claimUnqueued', 'sessionLogs.append'] as const;

/** Durable writes that no story reaches, and why that is no gap. */
export const NEVER_REACHED: Readonly<Record<string, string>> = {
  'acceptedFindings.forget': 'people give the command rarely, and it is one row',
  'threadReplies.add': 'no story has a model; one transaction with its job',
  'apiTokens.insert': 'the command line and Studio make tokens',
  'apiTokens.removeOver': 'Studio makes tokens',
  'apiTokens.revoke': 'the command line revokes tokens',
  'apiTokens.used': 'no story asks the API',
  'studioSessions.insert': 'nobody signs in to Studio',
  'studioSessions.change': 'nobody signs in to Studio',
  'studioSessions.remove': 'nobody signs in to Studio',
  'studioSessions.removeOfPerson': 'nobody signs in to Studio',
  'studioSessions.removeExpired': 'nobody signs in to Studio',
  'studioCommands.insert': 'nobody presses a button in Studio',
  'studioCommands.answer': 'nobody presses a button in Studio',
  'studioCommands.removeBefore': 'nobody presses a button in Studio',
  'dryRuns.insert': 'nobody asks for a dry run in Studio',
  'dryRuns.changeSteps': 'nobody asks for a dry run in Studio',
  'dryRuns.end': 'nobody asks for a dry run in Studio',
  'dryRuns.askToStop': 'nobody asks for a dry run in Studio',
  'dryRuns.removeBefore': 'nobody asks for a dry run in Studio',
  'dryRuns.removeBeyond': 'nobody asks for a dry run in Studio',
  'insight.forget': 'the figures of a day are deleted after 100 days',
  'chains.put': 'one transaction, of the command line; see cli/stored-chains',
  'chains.renameRepository': 'in one transaction with runs.renameRepository',
  'schedules.put': 'the next evaluation or push repeats it; see scenario/schedules',
  'schedules.remove': 'the same',
  'composites.remove': 'in one transaction with firings.insert; see scenario/composite-triggers',
  'firings.save': 'in one transaction with the run that it begins, or one statement',
  'skills.saveState': 'one statement, of the command line; see contract/skills',
  'skills.adopt': 'of the command line: in one transaction with the rest of a package; see cli/skill-sync',
  'skills.withdraw': 'the same',
  'skillTraces.remove': 'the same as artifacts.remove',
  'pruning.remove': 'a pass begins ten minutes after a start; see scenario/retention and storage/pruning',
  'pruning.forgetBlobs': 'the same',
  'deliveries.packTogether': 'one transaction, an hour after a start; see contract/deliveries',
  'runs.packEnded': 'the same; see contract/runs',
  'runs.archive': 'the same',
  'deliveries.archive': 'the same; see contract/deliveries',
  'approvals.saveNotices': 'in the transaction that requests the notices; see scenario/notify',
  'repositoryStates.remove': 'in one transaction with the ends of the runs of what is gone',
  'pullRequests.areGone': 'in one transaction with the ends of the runs of what is gone',
  'artifacts.remove':
    'only the command line prunes; what it leaves half done is pruned the next time, see cli/artifact',
};
