#include <csignal>

#include "cli/command_line.h"

int main(int argc, char** argv) {
    std::signal(SIGXFSZ,
                SIG_IGN);  // a file beyond the limit of sizes is an error of writing, said in a sentence
    return headlight::run_command_line(argc, argv);
}
