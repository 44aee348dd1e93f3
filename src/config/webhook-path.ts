/** The path of the App's webhook address. */
export const WEBHOOK_PATH = '/api/github/webhooks';
