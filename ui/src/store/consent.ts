/** What the core does only with the person's consent. */
import { uiError } from '../host/host';

export type Consent = (message: string) => Promise<boolean>;

/** What would delete more than the last reverted turn is refused at first, and needs the person's consent. */
export async function withConsent<T>(ask: Consent, work: (consented: boolean) => Promise<T>): Promise<T | undefined> {
  try {
    return await work(false);
  } catch (reason) {
    const { code, message } = uiError(reason);
    if (code !== 'confirm') throw reason;
    if (!(await ask(message))) return undefined;
    return work(true);
  }
}
