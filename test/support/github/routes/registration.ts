import { z } from 'zod';
import { ApiError, notFound } from '../api-error.ts';
import { type Call, json, type Reply, type Router } from '../router.ts';
import { appKeys } from '../state.ts';
import { viewApp } from '../views/account.ts';

const Manifest = z.looseObject({
  name: z.string(),
  redirect_url: z.url(),
  hook_attributes: z.object({ url: z.url() }),
});

/**
 * Registers the app from a manifest: the page takes a person's form and sends them back with a code, which the app exchanges for its
 * credentials, once. The app is the stand-in's own, whatever the manifest asks for, and its webhooks then go to the manifest's address.
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */
export function registrationRoutes(router: Router): void {
  const codes = new Map<string, string>();

  function register({ body, query, state }: Call): Reply {
    const text = body instanceof URLSearchParams ? (body.get('manifest') ?? '') : '';
    const manifest = Manifest.parse(JSON.parse(text));
    const code = `code-${codes.size + 1}`;
    codes.set(code, manifest.name);
    state.webhooks.url = manifest.hook_attributes.url;
    const back = new URL(manifest.redirect_url);
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    return { status: 302, headers: { location: back.href } };
  }
  router.anybody('POST', '/settings/apps/new', register);
  router.anybody('POST', '/organizations/:org/settings/apps/new', (call) => {
    if (call.state.findAccount(call.params.org ?? '')?.type !== 'Organization') throw notFound();
    return register(call);
  });

  router.anybody('POST', '/app-manifests/:code/conversions', ({ state, params }) => {
    const name = codes.get(params.code ?? '');
    if (name === undefined) throw new ApiError(404, 'Not Found');
    codes.delete(params.code ?? '');
    return json(
      {
        ...viewApp(state, state.app),
        name,
        client_secret: 'a client secret of the stand-in',
        webhook_secret: state.webhooks.secret,
        pem: appKeys().privateKey,
      },
      201,
    );
  });
}
