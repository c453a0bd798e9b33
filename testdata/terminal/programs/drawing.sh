# Line drawing in each of its ways, and the sets that stay designated.
printf '\033(0lqqqqqqqqk\033(B shifted by G0\n\033(0x\033(B  text  \033(0x\n'
printf 'mqqqqqqqqj\033(B\n'
printf '\033)0\016lqqwqqk\017 shifted to G1 \016x\017\n\016tqqnqqu\n\016mqqvqqj\017\n'
printf '┌──┬──┐ ╔══╗ ▀▄█▌▐░▒▓\n│  │  │ ║  ║\n└──┴──┘ ╚══╝\n'
printf '\033*0\033n abcd \017\033+0\033o~`ij\017\n'
printf '\033(A#pound\033(B# \033(0abc\0337\033(B text \0338def\033(B'
printf '\016'
sleep 0.1
printf 'lqk still drawing\017 not\033)B'
printf '\033[?1049h\033(0\033[2;2Hlqqqk\033[3;2Hx   x\033[4;2Hmqqqj'
sleep 0.1
printf 'aaa\033(B\033[?1049lback'
sleep 1
