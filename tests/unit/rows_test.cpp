// Tests rows that passes share in blocks: what is copied, what is not, and that none of it ever changes.
#include "base/rows.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

using namespace headlight;

namespace {

/// [n, 3] whose entries give their position.
Matrix numbered(Index n, float from = 0) {
    Matrix m(n, 3);
    for (Index i = 0; i < m.size(); ++i) m.data()[i] = from + float(i);
    return m;
}

Matrix stacked(const Matrix& above, const Matrix& below) {
    Matrix all(above.rows() + below.rows(), above.cols());
    all << above, below;
    return all;
}

const float* at(const Rows& rows, Index i) { return rows.row(i).data(); }

}  // namespace

TEST_CASE("rows: appended rows follow the kept ones, at any block boundary") {
    for (const Index n : {1, 63, 64, 65, 200})
        for (const Index kept : {Index{0}, Index{1}, n / 2, n - 1, n})
            for (const Index more : {0, 1, 2, 64, 130}) {
                CAPTURE(n);
                CAPTURE(kept);
                CAPTURE(more);
                const Rows past = numbered(n);
                const Rows now(past, kept, numbered(more, 1000));
                CHECK(now.rows() == kept + more);
                CHECK(now.all() == stacked(numbered(n).topRows(kept), numbered(more, 1000)));
                CHECK(past.all() == numbered(n));
            }
}

TEST_CASE("rows: typing row by row copies no earlier row") {
    Rows text(numbered(10), 10, numbered(1, 500));  // a block with room
    for (int i = 0; i < 300; ++i) {
        const Rows longer(text, text.rows(), numbered(1, float(i)));
        for (Index row = 0; row < text.rows(); ++row) CHECK(at(longer, row) == at(text, row));
        text = longer;
    }
    CHECK(text.rows() == 311);
}

TEST_CASE("rows: two continuations of one text are independent, and share its whole blocks") {
    const Rows past(numbered(100), 100, numbered(1, 500));
    const Rows one(past, 101, numbered(1, 600)), other(past, 101, numbered(1, 700));
    CHECK(one.row(101)[0] == 600);
    CHECK(other.row(101)[0] == 700);
    CHECK(at(one, 100) == at(past, 100));
    CHECK(at(other, 63) == at(past, 63));
    CHECK(at(other, 64) != at(past, 64));
    const Rows shorter(past, 70, Matrix(0, 3));  // deleting copies nothing
    CHECK(at(shorter, 69) == at(past, 69));
    const Rows again(shorter, 70, numbered(1, 800));
    CHECK(past.all() == stacked(numbered(100), numbered(1, 500)));
    CHECK(again.row(70)[0] == 800);
}

TEST_CASE("rows: after a first pass the partial block is copied once, whole blocks never") {
    const Rows first = numbered(100);
    const Rows typed(first, 100, numbered(1, 500)), again(typed, 101, numbered(1, 600));
    CHECK(at(typed, 63) == at(first, 63));
    CHECK(at(typed, 64) != at(first, 64));
    CHECK(at(again, 64) == at(typed, 64));
    const Rows across(again, 102, numbered(40, 700));  // more than the block has room for
    CHECK(at(across, 63) == at(first, 63));
    CHECK(across.all() == stacked(again.all(), numbered(40, 700)));
}

TEST_CASE("rows: the rest of a long text holds at most twice its memory") {
    const Rows text = numbered(1000);
    const Rows half(text, 600, Matrix(0, 3)), little(text, 100, numbered(1, 500));
    CHECK(at(half, 0) == at(text, 0));
    CHECK(at(little, 0) != at(text, 0));
    CHECK(little.all() == stacked(numbered(1000).topRows(100), numbered(1, 500)));
}

TEST_CASE("rows: columns share the blocks") {
    const Rows all = numbered(130);
    const Rows last = all.columns(1, 2);
    CHECK(last.all() == numbered(130).rightCols(2));
    CHECK(at(last, 70) == at(all, 70) + 1);
    CHECK(last.middleRows(60, 10) == numbered(130).middleRows(60, 10).rightCols(2));
    CHECK(last.bottomRows(2) == numbered(130).bottomRows(2).rightCols(2));
}

TEST_CASE("rows: several threads extend one text, and each keeps its own rows") {
    const Rows past(numbered(40), 40, numbered(1, 500));
    constexpr int kThreads = 4;
    std::vector<Rows> out(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&past, &out, i] { out[i] = Rows(past, 41, numbered(2, float(1000 * i))); });
    for (std::thread& t : threads) t.join();
    const auto took_the_rest = [&](const Rows& rows) { return at(rows, 40) == at(past, 40); };
    CHECK(std::count_if(out.begin(), out.end(), took_the_rest) == 1);
    for (int i = 0; i < kThreads; ++i) {
        CHECK(out[i].bottomRows(2) == numbered(2, float(1000 * i)));
        CHECK(out[i].topRows(41) == past.all());
    }
}

TEST_CASE("matrices leave their memory to the next of equal size, at most 256 MB") {
    free_spares();
    const float* at = nullptr;
    {
        const Rows rows(Matrix::Ones(300, 100));
        at = rows.row(0).data();
    }
#ifdef HEADLIGHT_SANITIZED  // sanitizers see uses of freed memory
    CHECK(at != nullptr);
    CHECK(free_spares() == 0);
#else
    CHECK(spare_matrix(100, 299).data() != at);
    Matrix taken = spare_matrix(100, 300);
    CHECK((taken.data() == at && taken.rows() == 100 && taken.cols() == 300));
    CHECK(free_spares() == 0);
    leave_spare(std::move(taken));
    leave_spare(Matrix(10, 10));  // small: freed
    CHECK(free_spares() == 300 * 100 * 4);
    for (int i = 0; i < 5; ++i) leave_spare(Matrix(16 << 10, 1 << 10));  // 64 MB each
    CHECK(free_spares() == 256 << 20);
    CHECK(taken.size() == 0);
#endif
}
