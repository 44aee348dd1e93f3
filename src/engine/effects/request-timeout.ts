/**
 * For how long GitHub may go on with a request whose connection broke, in milliseconds: it ends each after ten seconds
 * (docs.github.com, "Troubleshooting the REST API", Timeouts).
 */
export const GITHUB_REQUEST_LIMIT_MS = 10_000;
