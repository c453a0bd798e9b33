# A bar that is drawn over itself, with a mode for whole frames.
printf '\033[?25l'
for i in $(seq 0 4 100); do
  done_part=$(printf '█%.0s' $(seq $((i / 4 + 1))))
  printf '\033[?2026h\r\033[K\033[32m%3d%%\033[0m [%-26s] \033[2m%d/100\033[m\033[?2026l' "$i" "$done_part" "$i"
  sleep 0.02
done
printf '\033[?25h\ndone\n\033]0;finished\007'
for i in 1 2 3; do printf 'step %s …' "$i"; sleep 0.05; printf '\b\b ok\033[K\n'; done
printf 'a\rb\r\033[5Cc\n\033[A\033[1mup\033[m\033[B'
sleep 1
