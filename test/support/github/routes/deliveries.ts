import { ApiError, notFound } from '../api-error.ts';
import { type Call, json, numberIn, type Reply, type Router } from '../router.ts';
import { iso } from '../views/account.ts';
import type { Attempt } from '../webhooks.ts';

/** GitHub keeps deliveries for about three days. */
const KEPT_MS = 3 * 86_400_000;

/** The deliveries to the app's webhook, newest first, and their redelivery. */
export function deliveryRoutes(router: Router): void {
  // https://docs.github.com/en/rest/apps/webhooks#get-a-webhook-configuration-for-an-app
  router.app('GET', '/app/hook/config', ({ state }) =>
    json({
      content_type: 'json',
      insecure_ssl: '0',
      secret: '********',
      ...(state.webhooks.url === undefined ? {} : { url: state.webhooks.url }),
    }),
  );

  router.app('GET', '/app/hook/deliveries', list);

  router.app('GET', '/app/hook/deliveries/:id', (call) => {
    const attempt = attemptIn(call);
    const { delivery } = attempt;
    const signed = call.state.webhooks.sign(delivery.event, delivery.payload, delivery.guid);
    return json({
      ...viewAttempt(attempt),
      url: call.state.webhooks.url,
      request: { headers: signed.headers, payload: delivery.payload },
      response: { headers: {}, payload: '' },
    });
  });

  router.app('POST', '/app/hook/deliveries/:id/attempts', (call) => {
    // Sent in the background, as on GitHub: the answer only says that it will be.
    void call.state.webhooks.redeliver(attemptIn(call).delivery);
    return json({}, 202);
  });
}

function list(call: Call): Reply {
  const { state, query } = call;
  const oldest = state.now().getTime() - KEPT_MS;
  const cursor = query.get('cursor');
  if (cursor !== null && !/^v1_\d+$/.test(cursor)) throw new ApiError(400, 'Invalid cursor');
  const before = cursor === null ? Number.POSITIVE_INFINITY : Number(cursor.slice(3));
  const perPage = Math.min(Number(query.get('per_page') ?? 30) || 30, 100);
  const kept = state.webhooks.attempts
    .filter((attempt) => attempt.at.getTime() >= oldest && attempt.id < before)
    .sort((a, b) => b.id - a.id);
  const page = kept.slice(0, perPage);
  const last = page.at(-1);
  const headers: Record<string, string> = {};
  if (last && kept.length > page.length)
    headers.link = `<${state.url}/app/hook/deliveries?per_page=${perPage}&cursor=v1_${last.id}>; rel="next"`;
  return { status: 200, body: page.map(viewAttempt), headers };
}

function attemptIn(call: Call): Attempt {
  const id = numberIn(call, 'id');
  const attempt = call.state.webhooks.attempts.find((one) => one.id === id);
  if (!attempt) throw notFound();
  return attempt;
}

function viewAttempt(attempt: Attempt) {
  return {
    id: attempt.id,
    guid: attempt.delivery.guid,
    delivered_at: iso(attempt.at),
    redelivery: attempt.redelivery,
    duration: Number((attempt.durationMs / 1000).toFixed(2)),
    status: attempt.status,
    status_code: attempt.statusCode ?? 0,
    event: attempt.delivery.event,
    action: attempt.delivery.action ?? null,
    installation_id: attempt.installationId ?? null,
    repository_id: attempt.repositoryId ?? null,
    throttled_at: null,
  };
}
