/** What each permission and event of `app.yml` is for, in the order in which the setup page lists them. */
export const PERMISSION_WORDS: Readonly<Record<string, string>> = {
  checks: 'shows the state of each run as a check run, with buttons',
  contents: 'reads chains, settings and changed files; merges',
  pull_requests: 'reads pull requests and reviews; labels them and requests reviews',
  issues: 'writes comments, reactions and labels, also those of pull requests',
  statuses: 'reads CI that reports by commit status; sets statuses that a chain names',
  actions: 'reads what workflows leave behind; starts workflows that a chain names',
  members: 'reads who is in a team that may countersign',
  merge_queues: 'reads GitHub’s merge queue, and adds to it where the settings say so',
  metadata: 'reads repositories, branch rules and who has which role; every App has it',
};
