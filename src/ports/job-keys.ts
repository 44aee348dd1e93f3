/**
 * The key of all jobs about one pull request, so that they run one after the other. A file of its own, because
 * the intake thread must not load the schemas of all jobs.
 */
export function pullRequestKey(repositoryId: number, pullRequest: number): string {
  return `pr:${repositoryId}#${pullRequest}`;
}

/** The key of jobs about a repository and no pull request of it. */
export function repositoryKey(repositoryId: number): string {
  return `repository:${repositoryId}`;
}
