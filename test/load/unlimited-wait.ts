/**
 * Preloaded into an app that is to be stopped: its requests to GitHub wait forever, so a timeout cannot be what ends it. A clock
 * could also distinguish the two, but only on a machine that is fast enough.
 */
AbortSignal.timeout = () => new AbortController().signal;
