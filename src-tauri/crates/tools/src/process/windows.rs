//! A job object holds the command and all it starts; closing the job ends them.
#![allow(unsafe_code)] // Job objects are only to be had from the Windows API.

use std::io::{self, PipeReader};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::process::Stdio;
use std::sync::Arc;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_SUSPENDED, OpenThread, ResumeThread, THREAD_SUSPEND_RESUME,
};

use super::CommandSpec;

pub struct Tree {
    job: OwnedHandle,
}

impl Tree {
    fn new() -> io::Result<Self> {
        // SAFETY: no name, no attributes; the handle is ours and checked.
        let job = unsafe { owned(CreateJobObjectW(std::ptr::null(), std::ptr::null()))? };
        // SAFETY: plain numbers; all zero is a value.
        let mut limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = unsafe { std::mem::zeroed() };
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = u32::try_from(size_of_val(&limits)).unwrap_or(0);
        // SAFETY: the structure is the one this class takes, of the size we say.
        let set = unsafe {
            SetInformationJobObject(
                job.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size,
            )
        };
        if set == 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(Self { job })
        }
    }

    pub fn kill_now(&self) {
        // SAFETY: the job's handle is open as long as `self`.
        unsafe {
            TerminateJobObject(self.job.as_raw_handle(), 1);
        }
    }
}

/// The pipes of a program started with `start_piped`.
pub struct Pipes {
    pub input: ChildStdin,
    pub output: ChildStdout,
    pub errors: ChildStderr,
}

pub struct Leader {
    child: Child,
    tree: Arc<Tree>,
}

impl Leader {
    pub fn start(spec: &CommandSpec, _: u64) -> io::Result<(Self, PipeReader)> {
        let (output, write) = io::pipe()?;
        let mut command = hidden(spec)?;
        command
            .stdin(Stdio::null())
            .stdout(write.try_clone()?)
            .stderr(write);
        Ok((Self::spawn(&mut command)?, output))
    }

    pub fn start_piped(spec: &CommandSpec, _: u64) -> io::Result<(Self, Pipes)> {
        let mut command = hidden(spec)?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut leader = Self::spawn(&mut command)?;
        let child = &mut leader.child;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(input), Some(output), Some(errors)) => Ok((
                leader,
                Pipes {
                    input,
                    output,
                    errors,
                },
            )),
            _ => Err(io::Error::other("the program has no pipes")),
        }
    }

    fn spawn(command: &mut Command) -> io::Result<Self> {
        let tree = Arc::new(Tree::new()?);
        let child = command.spawn()?;
        let handle = child
            .raw_handle()
            .ok_or_else(|| io::Error::other("no process handle"))?;
        // SAFETY: both handles are open.
        if unsafe { AssignProcessToJobObject(tree.job.as_raw_handle(), handle) } == 0 {
            return Err(io::Error::last_os_error());
        }
        resume(child.id().unwrap_or(0))?;
        Ok(Self { child, tree })
    }

    pub fn process(&self) -> Option<u32> {
        self.child.id()
    }

    pub fn tree(&self) -> Arc<Tree> {
        self.tree.clone()
    }

    /// It cannot be seen here what a command writes.
    pub fn take_evidence(&mut self) -> Option<Box<dyn crate::written::WriteEvidence>> {
        None
    }

    pub async fn exit_code(&mut self) -> Option<i32> {
        self.child.wait().await.ok()?.code()
    }

    /// Windows has no signal like SIGTERM for programs without a window.
    pub async fn end(&mut self) {
        self.tree.kill_now();
        let _ = self.child.wait().await;
    }
}

fn hidden(spec: &CommandSpec) -> io::Result<Command> {
    if spec.walls.is_some() {
        return Err(io::Error::other(
            "there is no sandbox for commands on Windows",
        ));
    }
    let mut command = Command::new(spec.program);
    command
        .args(&spec.arguments)
        .env_clear()
        .envs(spec.variables)
        .current_dir(spec.directory)
        .kill_on_drop(true)
        // It must be in the job before it can start other processes.
        .creation_flags(CREATE_SUSPENDED | CREATE_NO_WINDOW);
    Ok(command)
}

/// A process that was started suspended has one thread.
fn resume(process: u32) -> io::Result<()> {
    // SAFETY: the snapshot's handle is checked and closed by its owner; the entry has its size
    // set, as the calls demand; thread handles are checked and closed.
    unsafe {
        let snapshot = owned(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0))?;
        let mut entry: THREADENTRY32 = std::mem::zeroed();
        entry.dwSize = u32::try_from(size_of::<THREADENTRY32>()).unwrap_or(0);
        let mut more = Thread32First(snapshot.as_raw_handle(), &raw mut entry) != 0;
        while more {
            if entry.th32OwnerProcessID == process {
                let thread = owned(OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID))?;
                ResumeThread(thread.as_raw_handle());
                return Ok(());
            }
            more = Thread32Next(snapshot.as_raw_handle(), &raw mut entry) != 0;
        }
    }
    Err(io::Error::other("the new process has no thread"))
}

/// # Safety
/// The handle must be open and not owned elsewhere, or one of the two "none" values.
unsafe fn owned(handle: windows_sys::Win32::Foundation::HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: by this function's own condition.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}
