# Every way to say a colour and every look of a character.
for i in 0 1 2 3 4 5 6 7; do printf "\033[3${i}m3$i \033[1m1;3$i \033[22;9${i}m9$i \033[0;4${i}m4$i \033[10${i}m10$i\033[m "; done
printf '\n'
for i in $(seq 16 8 255); do printf "\033[38;5;${i}m%3d\033[48;5;$((271 - i))m%3d\033[m" "$i" "$i"; done
printf '\n'
for i in $(seq 0 6 255); do printf "\033[48;2;$i;$((255 - i));$((i / 2))m \033[38:2::$i:0:$((255 - i))m#"; done
printf '\033[m\n'
for look in 1 2 3 4 5 7 8 9 21 53 '4:1' '4:2' '4:3' '4:4' '4:5'; do printf "\033[${look}m$look look\033[m "; done
printf '\n\033[4:3;58:2::255:0:0mred curl\033[59m plain curl\033[58;5;33m blue curl\033[24m none\033[m\n'
printf '\033[1;2mboth\033[22m neither\033[m \033[1"qshielded\033[0"q open\n'
printf '\033]8;id=a;https://example.org/x?a=1;b=2\033\\a link\033]8;;\033\\ and \033]8;;file:///tmp\007\033[4:2manother\033[m\033]8;;\007\n'
printf '\033[42mgreen to the margin\033[K\033[m\n\033[45m\033[2K  erased line\033[m\n'
printf '\033[41m\033[5Xerased ahead\033[m \033[7mreversed\033[K\033[m\n'
printf '\033]4;1;#aa0011\007\033]11;rgb:10/20/30\007\033]12;#00ff00\007'
printf '\033[3 q\033[?12h'
printf '\033[46m\033[20;1H\033[J\033[m\033[22;10H\033[38;5;200;48;2;1;2;3;3mstill on'
sleep 1
