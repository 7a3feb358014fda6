/** The Rust core behind the window. The only file that imports @tauri-apps. */
import { Channel, invoke, isTauri } from '@tauri-apps/api/core';
import type { UiBatch } from '../protocol';
import type { Host } from './host';

export const inTauri = isTauri;

export function createTauriHost(): Host {
  return {
    start: () => invoke('start'),
    watch: (receive) => {
      const channel = new Channel<UiBatch>();
      channel.onmessage = receive;
      return invoke('watch', { channel });
    },

    pickProject: () => invoke('pick_project'),

    listSessions: (projectID) => invoke('list_sessions', { projectID }),
    createSession: (projectID) => invoke('create_session', { projectID }),
    renameSession: (sessionID, title) => invoke('rename_session', { sessionID, title }),
    archiveSession: (sessionID, archived) => invoke('archive_session', { sessionID, archived }),
    deleteSession: (sessionID) => invoke('delete_session', { sessionID }),
    restoreSession: (sessionID) => invoke('restore_session', { sessionID }),

    openSession: (sessionID, limit) => invoke('open_session', { sessionID, limit }),
    olderMessages: (sessionID, before, limit) => invoke('older_messages', { sessionID, before, limit }),
    closeSession: (sessionID) => invoke('close_session', { sessionID }),

    prompt: (sessionID, input) => invoke('prompt', { sessionID, input }),
    abort: (sessionID) => invoke('abort', { sessionID }),

    saveSettings: (settings) => invoke('save_settings', { settings }),
    remember: (projectID, sessionID) => invoke('remember', { projectID, sessionID }),
    openExternal: (url) => invoke('open_external', { url }),
  };
}
