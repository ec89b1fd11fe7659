"""Sets up GPU Advisor in a private environment beside the sources and starts it, or passes its tests.

    python3 packaging/start.py run  [ARGUMENTS OF gpu-advisor]
    python3 packaging/start.py test [ARGUMENTS OF pytest]

Needs Python 3.11 or later with pip and venv, nothing else. Safe to repeat: a set-up that is up to date is not redone.
Only the standard library is used, and nothing newer than Python 3.6 in its syntax, so that an old one can say so.
"""

import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGING = os.path.join(ROOT, "packaging")
ENVIRONMENT = os.environ.get("GPU_ADVISOR_VENV") or os.path.join(ROOT, ".venv")
WINDOWS = os.name == "nt"
LEAST = (3, 11)
#: System libraries that Qt loads even without a screen, and what a window on X needs besides.
QT_PACKAGES = (
    "libegl1 libgl1 libglib2.0-0 libxkbcommon0 libxkbcommon-x11-0 libdbus-1-3 libfontconfig1 libxcb-cursor0 "
    "libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxcb-image0 libxcb-render-util0"
)
QT_PACKAGES_FEDORA = (
    "libglvnd-egl libglvnd-glx glib2 libxkbcommon libxkbcommon-x11 dbus-libs fontconfig xcb-util-cursor xcb-util-wm "
    "xcb-util-keysyms xcb-util-image xcb-util-renderutil"
)
QT_PROBE = "from PySide6.QtWidgets import QApplication; QApplication([])"

WORDS = {
    "old_python": (
        "GPU Advisor needs Python {least} or later; this is {found} ({path}).\n"
        "Install a newer one, for example:  sudo apt-get install -y python3.11 python3.11-venv\n"
        "and run:  python3.11 packaging/start.py {command}",
        "GPU Advisor 需要 Python {least} 或更高版本；当前是 {found}（{path}）。\n"
        "请安装较新版本，例如：  sudo apt-get install -y python3.11 python3.11-venv\n"
        "然后运行：  python3.11 packaging/start.py {command}",
    ),
    "no_venv": (
        "Python's venv module is missing, so no private environment can be made. Install it with:\n    {command}\n"
        "and run this command again.",
        "缺少 Python 的 venv 模块，无法创建独立环境。请安装：\n    {command}\n然后重新运行本命令。",
    ),
    "read_only": (
        "The folder {path} can't be written to, so nothing can be set up in it.\n"
        "Copy the sources to a folder of your own and run this command there.",
        "文件夹 {path} 不可写，无法在其中安装。\n请把源码复制到您自己的文件夹，再在那里运行本命令。",
    ),
    "venv_failed": (
        "The private environment {path} could not be made. What Python said:\n{said}",
        "无法创建独立环境 {path}。Python 的提示：\n{said}",
    ),
    "pip_failed": (
        "The packages could not be installed (pip's words stand above). On a network without a package index,\n"
        "point pip at a folder of wheels or at a mirror (PIP_FIND_LINKS, PIP_INDEX_URL) and run this command again.",
        "软件包安装失败（pip 的提示见上）。如果网络无法访问软件包索引，\n"
        "请用 PIP_FIND_LINKS 或 PIP_INDEX_URL 指向本地 wheel 文件夹或镜像，然后重新运行本命令。",
    ),
    "qt_library": (
        "Qt needs system libraries that are missing here:\n{said}\nInstall them with:\n    {command}\n"
        "and run this command again.",
        "缺少 Qt 需要的系统库：\n{said}\n请安装：\n    {command}\n然后重新运行本命令。",
    ),
    "setting_up": ("Setting up in {path} …", "正在 {path} 中安装……"),
    "usage": (
        "Usage: python3 packaging/start.py run|test [arguments]",
        "用法：python3 packaging/start.py run|test [参数]",
    ),
}


def main(arguments):
    """Run one of the two commands; returns its exit status."""
    command = arguments[0] if arguments else "run"
    if command not in ("run", "test"):
        say("usage")
        return 2
    if sys.version_info < LEAST:
        found = ".".join(map(str, sys.version_info[:3]))
        say("old_python", least="3.11", found=found, path=sys.executable, command=command)
        return 2
    try:
        set_up(command == "test")
    except SetUpError as error:
        say(error.code, **error.params)
        return 3
    python = environment_program("python")
    if command == "run":
        return hand_over([environment_program("gpu-advisor")] + arguments[1:])
    said = qt_problem(python)
    if said:
        say("qt_library", said=said, command=qt_command())
        return 3
    os.chdir(ROOT)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    return hand_over([python, "-m", "pytest"] + arguments[1:])


def hand_over(command):
    """Go on as that program, so that Ctrl-C and signals reach it alone; Windows knows only to wait for it."""
    sys.stdout.flush()
    if WINDOWS:
        return subprocess.call(command)
    return os.execv(command[0], command)


class SetUpError(Exception):
    """The environment could not be made; `code` is a key of WORDS."""

    def __init__(self, code, **params):
        super(SetUpError, self).__init__(code)
        self.code, self.params = code, params


def set_up(with_tests):
    """Make the environment and install into it, unless that was done already for these very files."""
    requirements = ["requirements-build.txt", "requirements-test.txt" if with_tests else "requirements.txt"]
    stamp_path = os.path.join(ENVIRONMENT, "set-up-test" if with_tests else "set-up")
    stamp = stamp_of(requirements)
    if os.path.exists(environment_program("python")) and read(stamp_path) == stamp:
        return
    if not os.access(ROOT, os.W_OK):
        raise SetUpError("read_only", path=ROOT)
    say("setting_up", path=ENVIRONMENT)
    make_environment()
    python = environment_program("python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    for name in requirements:
        run_pip(pip + ["--require-hashes", "-r", os.path.join(PACKAGING, name)])
    run_pip(pip + ["--no-deps", "--no-build-isolation", "--editable", ROOT])
    with open(stamp_path, "w") as stream:
        stream.write(stamp)


def make_environment():
    """`python -m venv`; a broken one from an earlier try is made anew."""
    if os.path.exists(environment_program("python")) and works(environment_program("python")):
        return
    if os.path.isdir(ENVIRONMENT):
        shutil.rmtree(ENVIRONMENT)
    made = subprocess.Popen(
        [sys.executable, "-m", "venv", ENVIRONMENT], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    said = made.communicate()[0].decode("utf-8", "replace").strip()
    if made.returncode == 0 and works(environment_program("python")):
        return
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    if "ensurepip" in said or "No module named venv" in said or "No module named pip" in said:
        version = "{}.{}".format(*sys.version_info[:2])
        raise SetUpError("no_venv", command=as_root("apt-get install -y python{}-venv".format(version)))
    raise SetUpError("venv_failed", path=ENVIRONMENT, said=said)


def works(python):
    """Whether that interpreter starts and has pip."""
    with open(os.devnull, "w") as nowhere:
        try:
            return subprocess.call([python, "-c", "import pip"], stdout=nowhere, stderr=nowhere) == 0
        except OSError:
            return False


def run_pip(command):
    """Run pip; SetUpError where it fails. Warnings of build tools concern their authors, not who installs."""
    if subprocess.call(command, env=dict(os.environ, PYTHONWARNINGS="ignore")) != 0:
        raise SetUpError("pip_failed")


def qt_problem(python):
    """What Qt says where it can't start without a screen; empty where it can."""
    environ = dict(os.environ, QT_QPA_PLATFORM="offscreen")
    probe = subprocess.Popen([python, "-c", QT_PROBE], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environ)
    said = probe.communicate()[0].decode("utf-8", "replace").strip()
    return said.splitlines()[-1] if probe.returncode != 0 and said else ""


def qt_command():
    """The command that installs Qt's system libraries here."""
    if shutil.which("dnf"):
        return as_root("dnf install -y " + QT_PACKAGES_FEDORA)
    return as_root("apt-get install -y " + QT_PACKAGES)


def as_root(command):
    """With sudo unless one is root already."""
    return command if getattr(os, "geteuid", lambda: 1)() == 0 else "sudo " + command


def stamp_of(requirements):
    """A digest of everything that the set-up depends on: where it stands, which Python, which packages."""
    digest = hashlib.sha256(repr((ROOT, sys.executable, sys.version)).encode("utf-8"))
    for path in [os.path.join(PACKAGING, r) for r in requirements] + [os.path.join(ROOT, "pyproject.toml")]:
        with open(path, "rb") as stream:
            digest.update(stream.read())
    return digest.hexdigest()


def environment_program(name):
    """Path of a program of the environment."""
    folder = "Scripts" if WINDOWS else "bin"
    return os.path.join(ENVIRONMENT, folder, name + (".exe" if WINDOWS else ""))


def read(path):
    """Text of a small file; empty where there is none."""
    if not os.path.exists(path):
        return ""
    with open(path) as stream:
        return stream.read()


def say(code, **params):
    """Print words in the language of the system."""
    language = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    text = WORDS[code][1 if language.lower().startswith("zh") else 0].format(**params)
    stream = sys.stdout if code == "setting_up" else sys.stderr
    try:
        stream.write(text + "\n")
    except UnicodeEncodeError:
        stream.write(text.encode("ascii", "replace").decode("ascii") + "\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
