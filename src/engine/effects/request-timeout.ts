/**
 * How long GitHub may continue a request after its connection broke, in milliseconds. GitHub ends each after
 * ten seconds (docs.github.com, "Troubleshooting the REST API", Timeouts).
 */
export const GITHUB_REQUEST_LIMIT_MS = 10_000;
