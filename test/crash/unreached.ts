/** Durable writes of the stories that are told in the long form alone. */
export const ONLY_IN_LONG_FORM = [
  'approvals.saveAnswers',
  'modelCalls.begin',
  'modelCalls.end',
  'skills.keep',
  'runs.chooseSkill',
  'skillCalls.insert',
  'skillCalls.save',
  'skillTraces.insert',
  'missedDeliveries.put',
];

/** Durable writes that only a life after a death comes to; in the long form it dies there, too. */
export const AFTER_A_DEATH = ['jobs.release', 'missedDeliveries.remove'] as const;

/** Durable writes that no story comes to, and why that is no gap, or which it is. */
export const NEVER_REACHED: Readonly<Record<string, string>> = {
  'jobs.extend':
    'only of work that takes longer than a third of a lease, which no story does on a machine that is not slow',
  'runs.renameRepository':
    'one statement, which a second time changes nothing; scenario/installation tells of it',
  'skills.saveState': 'one statement, of the command line; see contract/skills',
  'skills.adopt': 'of the command line: in one transaction with the rest of a package; see cli/skill-sync',
  'skills.withdraw': 'the same',
  'skillTraces.remove': 'the same as artifacts.remove',
  'artifacts.remove':
    'only the command line prunes; what it leaves half done is pruned the next time, see cli/artifact',
};
