import { number } from './wording';

/** The first start. */
export const welcomeWords = {
  step: (at: number, of: number) => `Step ${number(at)} of ${number(of)}`,
  model: {
    title: 'Choose a model',
    lead: 'Work with an AI coding agent on your own project, one reviewable step at a time.',
    found: 'Found on this machine:',
    none: 'Paste an API key, or start with the built-in demo model. It works offline, without a key.',
    provider: 'Provider',
    more: 'More providers…',
  },
  sessions: { title: 'Bring your sessions' },
  project: {
    title: 'Open a project',
    body: 'Lathe works in the folder you open, and asks before it changes files or runs commands.',
    sample: (name: string) => `Start in ${name}`,
  },
  back: 'Back',
  skip: 'Skip',
  next: 'Continue',
};
