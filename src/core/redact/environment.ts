/** Variables whose name says that they hold a secret: ours, the model providers', a proxy's. */
const SECRET_VARIABLE =
  /(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|PRIVATE_KEY|ACCESS_KEY|CREDENTIALS?)(?!.*_(?:PATH|FILE|DIR|URL|NAME|ID)$)/i;

/** The secrets of an environment: values of variables with such a name, and passwords inside any URL. */
export function secretsOf(
  environment: Readonly<Record<string, string | undefined>>,
): { name: string; value: string }[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!value) return [];
    if (SECRET_VARIABLE.test(name)) return [{ name, value }];
    const password = /:\/\/[^\s/:@]*:([^\s/]+)@/.exec(value)?.[1];
    if (password === undefined) return [];
    return [...new Set([password, decoded(password)])].map((secret) => ({ name, value: secret }));
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
