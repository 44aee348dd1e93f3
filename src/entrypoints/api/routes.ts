import type { Route } from './route.ts';
import { ARTIFACT_ROUTES } from './routes/artifacts.ts';
import { CHAIN_ROUTES } from './routes/chains.ts';
import { DELIVERY_ROUTES } from './routes/deliveries.ts';
import { PULL_REQUEST_ROUTES } from './routes/pull-requests.ts';
import { REPORT_ROUTES } from './routes/report.ts';
import { RUN_ROUTES } from './routes/runs.ts';

/** All routes of the API, in the order of its description. */
export const ROUTES: readonly Route[] = [
  ...RUN_ROUTES,
  ...ARTIFACT_ROUTES,
  ...PULL_REQUEST_ROUTES,
  ...CHAIN_ROUTES,
  ...REPORT_ROUTES,
  ...DELIVERY_ROUTES,
];
