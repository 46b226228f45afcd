"""A runner without a library: it says what a script tells it to say, and breaks as it is told to break.

Everything above the protocol is tested on it without waiting for a clock. The script is JSON, in the file
or the text of PERBYTE_FAKE_SCRIPT; README.md of this directory has every key. All code is in modules beside this file,
because Python keeps what it compiled of modules alone, and tests start thousands of these.
"""

from conversation import Fake, read_script

if __name__ == "__main__":
    Fake(read_script()).serve()
