import { createContext, useContext } from 'solid-js';
import type { App } from './app';

const AppContext = createContext<App>();

export const AppProvider = AppContext.Provider;

export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error('useApp outside of AppProvider');
  return app;
}
